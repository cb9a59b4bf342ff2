"""Texts for raters of an audit, by language of the page; ``ITEM`` has those of one item with its direction."""

CONSENT = {
    "en": """You are invited to look at questions about pictures, and to say which of them are in order.

You will see pictures, each with a question and several options, and answer it yourself. After that you see which \
option is meant to be right, and say whether picture, question, options and translation are in order.
We keep what you choose and write, how long you spend on an item, and the languages you name; no name, no address.
You may stop at any time, and ask us to remove what you said. The name at the top of the page is enough for that.

(To the maintainers: say here who you are, how to reach you, what is paid, and who approved the study.)
""",
    "ar": """ندعوك إلى مراجعة أسئلة حول الصور، وبيان ما هو سليم منها.

سترى صورًا، مع كل منها سؤال وعدة خيارات، وتجيب عنه بنفسك. بعد ذلك يظهر لك الخيار الذي يُعدّ صحيحًا، وتقول هل الصورة \
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
ITEM: dict[str, dict[str, str]] = {
    "en": {
        "dir": "ltr",
        "title": "Audit of questions",
        "item": "Item",
        "category": "Category",
        "answerFirst": "Answer it yourself: which option is right? The key is shown after that.",
        "cannot": "I cannot tell",
        "key": "key",
        "trap": "trap",
        "judge": "Is the item in order, in every language? If not: what is wrong?",
        "approve": "In order",
        "approveHint": "one right option, answered by the picture, the same in all languages",
        "image": "Picture",
        "imageHint": "poor quality, or it does not fit the question or the category",
        "question": "Question",
        "questionHint": "unclear, wrong, or it can be answered without the picture",
        "choices": "Options",
        "choicesHint": "not exactly one of them is right, or the key is wrong",
        "translation": "Translation",
        "translationHint": "the languages do not say the same",
        "note": "Note (optional)",
        "keys": "Keys: numbers answer, 0 cannot tell, then 5 to 9 judge, Enter next, arrows go back and forth, Escape "
        "leaves the note.",
    },
    "ar": {
        "dir": "rtl",
        "title": "مراجعة الأسئلة",
        "item": "السؤال",
        "category": "التصنيف",
        "answerFirst": "أجب بنفسك أولا: ما الخيار الصحيح؟ يظهر المفتاح بعد ذلك.",
        "cannot": "لا أستطيع التحديد",
        "key": "المفتاح",
        "trap": "الفخ",
        "judge": "هل السؤال سليم في كل اللغات؟ وإن لم يكن، فما الخطأ؟",
        "approve": "سليم",
        "approveHint": "خيار صحيح واحد، تجيب عنه الصورة، والمعنى واحد في كل اللغات",
        "image": "الصورة",
        "imageHint": "رديئة، أو لا تناسب السؤال أو التصنيف",
        "question": "السؤال",
        "questionHint": "غامض أو خاطئ، أو يجاب عنه من دون الصورة",
        "choices": "الخيارات",
        "choicesHint": "ليس فيها صحيح واحد بالضبط، أو المفتاح خاطئ",
        "translation": "الترجمة",
        "translationHint": "اللغات لا تقول الشيء نفسه",
        "note": "ملاحظة (اختيارية)",
        "keys": "المفاتيح: 1 إلى 4 للإجابة، 0 لا أستطيع التحديد، ثم 5 إلى 9 للحكم، Enter للتالي، الأسهم للتنقل، "
        "Escape للخروج من الملاحظة.",
    },
}
PAGE = {
    "en": {
        "title": ITEM["en"]["title"],
        "step": ITEM["en"]["item"],
        "fill": "Answer the question, then give your verdict on the item.",
        "end_text": "You can go back and change your verdict on an item. Then send it.",
    },
    "ar": {
        "title": ITEM["ar"]["title"],
        "step": ITEM["ar"]["item"],
        "fill": "أجب عن السؤال، ثم قل هل هو سليم.",
        "end_text": "يمكنك الرجوع وتغيير حكمك على أي سؤال، ثم أرسله.",
    },
}
