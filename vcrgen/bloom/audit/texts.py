"""What the page of raters says, by its language. A language is added by its texts here, with its direction."""

TEXTS: dict[str, dict[str, str]] = {
    "en": {
        "name": "English", "dir": "ltr", "title": "Audit of questions", "you": "Rater", "part": "part", "of": "of",
        "done": "done", "item": "Item", "leaf": "Leaf", "picture": "Picture of the item",
        "noPicture": "This item has no picture that can be shown.",
        "answerFirst": "Answer it yourself: which option is right? The key is shown after that.",
        "cannot": "I cannot tell", "key": "key", "trap": "trap",
        "judge": "Is the item in order, in every language? If not: what is wrong?",
        "approve": "In order", "approveHint": "one right option, answered by the picture, the same in all languages",
        "image": "Picture", "imageHint": "poor quality, or it does not fit the question or the leaf",
        "question": "Question", "questionHint": "unclear, wrong, or it can be answered without the picture",
        "choices": "Options", "choicesHint": "not exactly one of them is right, or the key is wrong",
        "translation": "Translation", "translationHint": "the languages do not say the same",
        "note": "Note (optional)", "previous": "Previous", "next": "Next",
        "keys": "Keys: 1 to 4 answer, 0 cannot tell, then 5 to 9 judge, Enter next, arrows go back and forth, Escape "
                "leaves the note.",
        "save": "Save the answers as a file", "copy": "Or copy them from here",
        "kept": "Answers are kept in this browser. Save the file when you have finished, and send it back.",
        "notKept": "This browser keeps nothing: save the file before you close the page.",
        "finished": "All items of this page are done. Save the file and send it back.",
    },
    "ar": {
        "name": "العربية", "dir": "rtl", "title": "مراجعة الأسئلة", "you": "المراجع", "part": "الجزء", "of": "من",
        "done": "مكتمل", "item": "السؤال", "leaf": "التصنيف", "picture": "صورة السؤال",
        "noPicture": "لا توجد صورة يمكن عرضها لهذا السؤال.",
        "answerFirst": "أجب بنفسك أولا: ما الخيار الصحيح؟ يظهر المفتاح بعد ذلك.",
        "cannot": "لا أستطيع التحديد", "key": "المفتاح", "trap": "الفخ",
        "judge": "هل السؤال سليم في كل اللغات؟ وإن لم يكن، فما الخطأ؟",
        "approve": "سليم", "approveHint": "خيار صحيح واحد، تجيب عنه الصورة، والمعنى واحد في كل اللغات",
        "image": "الصورة", "imageHint": "رديئة، أو لا تناسب السؤال أو التصنيف",
        "question": "السؤال", "questionHint": "غامض أو خاطئ، أو يجاب عنه من دون الصورة",
        "choices": "الخيارات", "choicesHint": "ليس فيها صحيح واحد بالضبط، أو المفتاح خاطئ",
        "translation": "الترجمة", "translationHint": "اللغات لا تقول الشيء نفسه",
        "note": "ملاحظة (اختيارية)", "previous": "السابق", "next": "التالي",
        "keys": "المفاتيح: 1 إلى 4 للإجابة، 0 لا أستطيع التحديد، ثم 5 إلى 9 للحكم، Enter للتالي، الأسهم للتنقل، "
                "Escape للخروج من الملاحظة.",
        "save": "احفظ الإجابات في ملف", "copy": "أو انسخها من هنا",
        "kept": "تحفظ الإجابات في هذا المتصفح. احفظ الملف عند الانتهاء وأرسله.",
        "notKept": "لا يحفظ هذا المتصفح شيئا: احفظ الملف قبل إغلاق الصفحة.",
        "finished": "اكتملت أسئلة هذه الصفحة. احفظ الملف وأرسله.",
    },
}  # fmt: skip
