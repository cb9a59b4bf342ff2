"""Models behind one interface: a request goes in, a reply comes out, and a killed run goes on where it was."""
