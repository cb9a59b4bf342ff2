"""From a caption to pixels and boxes: fonts, layout, cover, calibration, drawing."""
