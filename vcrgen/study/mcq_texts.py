"""Texts for raters who choose options of an MCQ benchmark; the rest is as in ``vcr_texts.py``."""

from collections.abc import Mapping

from vcrgen.study import vcr_texts

CONSENT = {
    "en": """You are invited to take part in a study of how people answer questions about pictures.

You will see pictures, each with a question and several options, and choose the option that you think is right.
We keep what you choose, how long you spend on a question, and the languages you name; no name, no address.
You may stop at any time, and ask us to remove what you chose. The name at the top of the page is enough for that.

(To the maintainers: say here who you are, how to reach you, what is paid, and who approved the study.)
""",
    "zh": """诚邀您参加一项关于人们如何回答图片问题的研究。

您会看到一些图片，每张图片有一个问题和若干选项，请选择您认为正确的一项。
我们保存您的选择、在每个问题上所用的时间，以及您填写的语言；不保存姓名和地址。
您可以随时停止，也可以要求我们删除您的选择，只需告诉我们页面顶端的编号。

（研究者：请在此说明你们是谁、如何联系、报酬多少，以及由谁批准。）
""",
    "ar": """ندعوك إلى المشاركة في دراسة عن كيفية إجابة الناس عن أسئلة حول الصور.

سترى صورًا، مع كل منها سؤال وعدة خيارات، وتختار ما تظنه صحيحًا.
نحفظ ما تختاره، والوقت الذي تقضيه في كل سؤال، واللغات التي تذكرها؛ ولا نحفظ اسمًا ولا عنوانًا.
يمكنك التوقف في أي وقت، وأن تطلب منا حذف ما اخترته. يكفي لذلك الرمز الظاهر في أعلى الصفحة.

(إلى القائمين على الدراسة: اكتبوا هنا من أنتم، وكيف يُتواصل معكم، وما الأجر، ومن أقرّ الدراسة.)
""",
}
INSTRUCTIONS = {
    "en": """Look at the picture, read the question, and choose one of the options. Exactly one of them is right.
The number keys choose an option as well (1 the first), and so do the arrow keys; Enter goes on.

Please concentrate. Where you cannot tell, say so instead of guessing. Do not ask anybody, and do not search the web.
""",
    "zh": """请看图片，阅读问题，从选项中选择一项。只有一项是正确的。
也可以用数字键（1 为第一项）或方向键选择，按回车键继续。

请集中精神。无法判断时请如实选择，不要猜。请不要询问他人，也不要上网搜索。
""",
    "ar": """انظر إلى الصورة، واقرأ السؤال، واختر واحدًا من الخيارات. واحد منها فقط صحيح.
يمكنك الاختيار أيضًا بمفاتيح الأرقام (1 للأول) أو بمفاتيح الأسهم، ومفتاح الإدخال للمتابعة.

نرجو التركيز. إن لم تستطع التحديد فقل ذلك ولا تخمّن. لا تسأل أحدًا، ولا تبحث في الإنترنت.
""",
}
PAGE: Mapping[str, Mapping[str, str]] = {
    "en": vcr_texts.PAGE["en"]
    | {
        "text_only": "This question is asked without its picture. Answer as well as you can.",
        "title": "Questions about pictures",
        "step": "Question",
        "picture": "Picture that is asked about",
        "field": "Question",
        "cannot": "I cannot tell",
        "fill": "Choose an option, or say that you cannot tell.",
        "end_text": "You can go back and change what you chose. Then send it.",
        "other_text": "This study was opened in another tab or window. Nothing you chose is lost.",
    },
    "zh": vcr_texts.PAGE["zh"]
    | {
        "text_only": "这道题不显示图片，请尽力作答。",
        "title": "图片问题",
        "step": "问题",
        "picture": "问题所指的图片",
        "field": "问题",
        "cannot": "无法判断",
        "next": "下一题",
        "back": "上一题",
        "fill": "请选择一项，或选择“无法判断”。",
        "end": "这是最后一题",
        "other_text": "本研究已在另一个标签页或窗口中打开。您的选择没有丢失。",
    },
    "ar": {
        "text_only": "يُطرح هذا السؤال من دون صورته. أجب قدر استطاعتك.",
        "word": "كلمة",
        "words": "كلمات",
        "character": "حرف",
        "characters": "حروف",
        "example": "مثال",
        "example_text": "الأجوبة:",
        "title": "أسئلة حول الصور",
        "you": "رمزك",
        "of": "من",
        "step": "السؤال",
        "loading": "لحظة …",
        "script": "تحتاج هذه الصفحة إلى JavaScript.",
        "agree": "قرأت ما سبق وأوافق على المشاركة.",
        "start": "ابدأ",
        "languages": "ما اللغات التي تتكلمها؟ اذكر لغتك الأولى أولًا.",
        "instructions": "ما المطلوب",
        "consent": "قبل أن تبدأ",
        "needs": "يرجى الموافقة وذكر لغة واحدة على الأقل.",
        "picture": "الصورة التي يدور حولها السؤال",
        "size": "حجم الصورة",
        "field": "السؤال",
        "cannot": "لا أستطيع التحديد",
        "next": "التالي",
        "back": "السابق",
        "stop": "توقف هنا",
        "saved": "حُفظ",
        "saving": "جارٍ الحفظ …",
        "offline": "لا اتصال: حُفظ في هذا المتصفح وسيُرسل لاحقًا.",
        "unsaved": "لم يُحفظ",
        "refused": "تعذر حفظ هذا. بقي في هذا المتصفح؛ غيّره من فضلك. السبب:",
        "drop": "تجاهل تغييري",
        "fill": "اختر خيارًا، أو قل إنك لا تستطيع التحديد.",
        "training": "للتدريب: ستظهر الإجابة بعد ذلك",
        "answers": "الإجابة",
        "right": "صحيح",
        "wrong": "ليس صحيحًا",
        "check": "للتحقق من أن أحدًا يقرأ هذا، اكتب الرقم الذي في الصورة من فضلك.",
        "number": "الرقم",
        "pause": "وقت الاستراحة",
        "pause_text": "أرح عينيك ما شئت.",
        "go_on": "متابعة",
        "end": "كان هذا آخر سؤال",
        "end_text": "يمكنك الرجوع وتغيير ما اخترته، ثم أرسله.",
        "more": "الإجابة عن بعضها",
        "more_text": "توقف أحد المشاركين قبل النهاية. يمكنك، إن شئت، الإجابة عن بعض ما تبقى أيضًا.",
        "send": "إرسال الكل",
        "unsent": "لم يصل إلينا بعضها بعد. أبقِ هذه الصفحة مفتوحة.",
        "thanks": "شكرًا لك",
        "thanks_text": "وصل كل شيء. يمكنك إغلاق هذه الصفحة.",
        "code": "رمز الإتمام",
        "return": "العودة إلى Prolific",
        "review": "ينظر القائمون على الدراسة في إجاباتك قبل الدفع.",
        "other_tab": "فُتحت في مكان آخر",
        "other_text": "فُتحت هذه الدراسة في علامة تبويب أو نافذة أخرى. لم يضع شيء مما اخترته.",
        "take_over": "تابع هنا",
        "left": "لقد توقفت",
        "sure": "هل تريد التوقف نهائيًا؟",
        "left_text": "يُحفظ ما أنهيته ما لم تطلب منا حذفه.",
        "yes_stop": "توقف",
        "full": "اكتملت الدراسة",
        "full_text": "شُغلت كل الأماكن. نرجو إعادة مشاركتك.",
        "taken": "لقد بدأت في متصفح آخر",
        "taken_text": "نرجو العودة إلى الجهاز والمتصفح اللذين بدأت فيهما. إن لم يعودا لديك فراسل القائمين على الدراسة.",
        "unlisted": "هذه الدراسة لغيرك",
        "unlisted_text": "معرّفك ليس في قائمة المدعوين. نرجو إعادة مشاركتك.",
        "crowded": "بدأ كثيرون من هنا قبل قليل",
        "crowded_text": "لا يمكن لشخص آخر أن يبدأ من شبكتك خلال الساعة القادمة. نرجو فتح الرابط لاحقًا.",
        "cookies": "تحتاج هذه الصفحة إلى ملف تعريف ارتباط",
        "cookies_text": "من دونه لا نتعرف إليك مرة أخرى. نرجو السماح به ثم فتح الرابط من جديد.",
        "unfit": "هذه الدراسة لغيرك",
        "unfit_text": "نرجو إعادة مشاركتك. تحتاج الدراسة إلى من يتكلم:",
        "keeps_id": "يُحفظ رقمك في Prolific مع ما تختاره، حتى يُدفع لك.",
        "gone": "هذا الرابط لم يعد صالحًا",
        "gone_text": "إن كان ذلك خطأً فأخبر من أرسله إليك.",
    },
}
