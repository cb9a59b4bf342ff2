"""An imitation that answers in Spanish: it translates the vocabulary of tests/bloom/author.py, with planted mistakes.

The author translates word by word. Of every hundred translations it leaves ten in English, turns the options of ten,
and takes a wrong word in ten. The judge knows the same vocabulary, and finds six of ten mistakes.
"""

import json
import re

from tests.bloom.author import THINGS, good, read_prompt, text_of
from tests.models.fault_server import Answer, Call

_SPANISH = """
    lámpara piedra río nube cesta escalera ventana bandera tambor manzana rueda banco vela cuerda botella
    alfombra espejo pala cubo pluma jardín martillo isla chaqueta tetera limón canica aguja naranja lápiz
    colcha cinta silla túnel paraguas violín carro ancla botón cortina delfín motor fuente copa casco farol
    imán servilleta roble ostra
"""
WORDS = dict(zip(THINGS, _SPANISH.split(), strict=False))
assert len(WORDS) == len(THINGS) == len(set(WORDS.values()))


def in_spanish(text: str) -> str:
    """A question or an option of the imitation in Spanish."""
    if found := re.fullmatch(r"Where is the (.*)\?", text):
        return f"¿Dónde está: {in_spanish(found[1])}?"
    return " ".join(WORDS[word] for word in text.split())


def spanish(call: Call) -> Answer:
    """The answer of an author or a judge who know Spanish."""
    if "messages" not in call.body:
        return good(call)
    stage, values = read_prompt(text_of(call))
    luck = int(call.digest[:6], 16) % 100
    if stage == "translation" and values["target"] == "Spanish":
        question, options = values["question"], json.loads(values["options"])
        said = in_spanish(question), [*map(in_spanish, options)]
        if luck < 10:
            said = question, options
        elif luck < 20:
            said = said[0], [*said[1][1:], said[1][0]]
        elif luck < 30:
            said = said[0], [said[1][0].partition(" ")[0] + " perro", *said[1][1:]]
        return Answer(text=json.dumps({"question": said[0], "options": said[1]}, ensure_ascii=False))
    if stage == "verdict" and "[es]" in values["item"]:
        blocks = {block[1:3]: block.splitlines() for block in values["item"].split("\n\n")}
        english, translated = ([line[3:] for line in blocks[lang][1:]] for lang in ("en", "es"))
        same = [*map(in_spanish, english)] == translated or luck < 40
        parts = dict.fromkeys(("picture", "question", "category", "options"), True) | {"translation": same}
        return Answer(text=json.dumps(parts))
    return good(call)


def answering(call: Call) -> Answer:
    """A model that answers questions of a set in Spanish; it takes the first option by the alphabet."""
    lines = re.findall(r"^([A-D])\. (.*)$", text_of(call), re.MULTILINE)
    label = min(lines, key=lambda line: line[1])[0]
    return Answer(text=f"La respuesta correcta es la {label}.")
