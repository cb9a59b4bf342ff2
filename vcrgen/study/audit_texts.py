"""What raters of an audit read around its items; the items themselves have the texts of ``bloom/audit/texts.py``."""

from vcrgen.bloom.audit.texts import TEXTS

CONSENT = {
    "en": """You are invited to look at questions about pictures, and to say which of them are in order.

You will see pictures, each with a question and four options, and answer it yourself. After that you see which option \
is meant to be right, and say whether picture, question, options and translation are in order.
We keep what you choose and write, how long you spend on an item, and the languages you name; no name, no address.
You may stop at any time, and ask us to remove what you said. The name at the top of the page is enough for that.

(To the maintainers: say here who you are, how to reach you, what is paid, and who approved the study.)
""",
    "ar": """ندعوك إلى مراجعة أسئلة حول الصور، وبيان ما هو سليم منها.

سترى صورًا، مع كل منها سؤال وأربعة خيارات، وتجيب عنه بنفسك. بعد ذلك يظهر لك الخيار الذي يُعدّ صحيحًا، وتقول هل الصورة \
والسؤال والخيارات والترجمة سليمة.
نحفظ ما تختاره وما تكتبه، والوقت الذي تقضيه في كل سؤال، واللغات التي تذكرها؛ ولا نحفظ اسمًا ولا عنوانًا.
يمكنك التوقف في أي وقت، وأن تطلب منا حذف ما قلته. يكفي لذلك الرمز الظاهر في أعلى الصفحة.

(إلى القائمين على الدراسة: اكتبوا هنا من أنتم، وكيف يُتواصل معكم، وما الأجر، ومن أقرّ الدراسة.)
""",
}
INSTRUCTIONS = {
    "en": """Look at the picture, read the question, and answer it yourself. Your answer cannot be changed later.
Then the key is shown. Say that the item is in order, or choose what is wrong with it, and write a note if you like.

In order means: exactly one option is right, the picture answers the question, and all languages say the same.
If you do not read one of the languages, judge the others, and say so in the note.
""",
    "ar": """انظر إلى الصورة، واقرأ السؤال، وأجب عنه بنفسك. لا يمكن تغيير إجابتك بعد ذلك.
ثم يظهر المفتاح. قل إن السؤال سليم، أو اختر ما هو خطأ فيه، واكتب ملاحظة إن شئت.

السليم هو ما كان فيه خيار صحيح واحد بالضبط، وتجيب الصورة عنه، وتقول كل اللغات فيه الشيء نفسه.
إن كنت لا تقرأ إحدى اللغات فاحكم على غيرها، واذكر ذلك في الملاحظة.
""",
}
PAGE = {
    "en": {
        "title": TEXTS["en"]["title"], "step": TEXTS["en"]["item"],
        "fill": "Answer the question, then say whether the item is in order.",
        "end_text": "You can go back and change what you said of an item. Then send it.",
    },
    "ar": {
        "title": TEXTS["ar"]["title"], "step": TEXTS["ar"]["item"],
        "fill": "أجب عن السؤال، ثم قل هل هو سليم.",
        "end_text": "يمكنك الرجوع وتغيير حكمك على أي سؤال، ثم أرسله.",
    },
}  # fmt: skip
