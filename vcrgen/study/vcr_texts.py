"""Texts for raters who recover masked spans, by language of the page: a language is added in each table."""

CONSENT = {
    "en": """You are invited to take part in a study of how people read words that are partly covered.

You will see pictures with a line of text of which some words are covered, and type what you think they are.
We keep what you type, how long you spend on a picture, and the languages you name; no name, no address.
You may stop at any time, and ask us to remove what you typed. The name at the top of the page is enough for that.

(To the maintainers: say here who you are, how to reach you, what is paid, and who approved the study.)
""",
    "zh": """诚邀您参加一项关于人们如何辨认被部分遮盖的文字的研究。

您会看到一些图片，下方的文字有几处被遮住，请输入您认为被遮住的内容。
我们保存您输入的文字、在每张图片上所用的时间，以及您填写的语言；不保存姓名和地址。
您可以随时停止，也可以要求我们删除您输入的内容，只需告诉我们页面顶端的编号。

（研究者：请在此说明你们是谁、如何联系、报酬多少，以及由谁批准。）
""",
}
INSTRUCTIONS = {
    "en": """\
Below each picture stands a text. Some of its words are covered: only parts of their letters are left.
Type each covered part into its field, in the order of reading. Use the picture, the rest of the text, and what is left.
A covered part may go on in the next line. Beside its field stands how long it is, and a frame shows where it is.

Please concentrate. A hard one may take half a minute to two minutes. Do not try one word after another.
Where you cannot read a part, say so with the box below its field. Do not ask anybody, and do not search the web.
""",
    "zh": """每张图片下方有一段文字，其中几处被遮住，只露出一部分笔画。
请按阅读顺序，把每一处被遮住的内容填进对应的输入框。可以借助图片、其余的文字和露出的笔画。
一处被遮住的内容可能延续到下一行。输入框旁标有它的长度，图片中的方框标出它的位置。

请集中精神。难的可能需要半分钟到两分钟。请不要逐字乱试。
认不出的地方，请勾选输入框下方的“认不出”。请不要询问他人，也不要上网搜索。
""",
}

PAGE: dict[str, dict[str, str]] = {
    "en": {
        "title": "Reading covered words",
        "you": "You are",
        "of": "of",
        "step": "Picture",
        "loading": "One moment …",
        "script": "This page needs JavaScript.",
        "agree": "I have read this, and I take part.",
        "start": "Begin",
        "languages": "Which languages do you speak? Your first language first.",
        "instructions": "What to do",
        "consent": "Before you begin",
        "needs": "Please agree, and name at least one language.",
        "picture": "Picture with a text of which some parts are covered",
        "size": "Size of the picture",
        "word": "word",
        "words": "words",
        "character": "character",
        "characters": "characters",
        "example": "An example",
        "example_text": "What the covered parts say, in the order of reading:",
        "field": "Covered part",
        "cannot": "I cannot read it",
        "next": "Next",
        "back": "Back",
        "stop": "Stop here",
        "saved": "Saved",
        "saving": "Saving …",
        "offline": "No connection: kept in this browser, and sent later.",
        "refused": "This could not be saved. It is kept in this browser; change it. The reason:",
        "unsaved": "Not saved",
        "drop": "Discard my change",
        "fill": "Type something, or say that you cannot read it.",
        "training": "For practice: the answers follow",
        "answers": "The answers",
        "right": "right",
        "wrong": "not quite",
        "check": "A check that somebody reads this. Please type the number in the picture.",
        "number": "The number",
        "pause": "Time for a break",
        "pause_text": "Rest your eyes as long as you like.",
        "go_on": "Go on",
        "end": "That was the last one",
        "end_text": "You can go back and change what you typed. Then send it.",
        "more": "Do some of them",
        "more_text": "Somebody has stopped early. If you like, you can do some of what is left, too.",
        "send": "Send everything",
        "unsent": "Some of it has not reached us yet. Keep this page open.",
        "thanks": "Thank you",
        "thanks_text": "Everything has arrived. You can close this page.",
        "code": "Your completion code",
        "return": "Back to Prolific",
        "review": "The people who run this study look at your answers before they are paid.",
        "other_tab": "Opened elsewhere",
        "other_text": "This study was opened in another tab or window. Nothing you typed is lost.",
        "take_over": "Go on here",
        "left": "You have stopped",
        "sure": "Do you want to stop for good?",
        "left_text": "What you finished is kept, unless you ask us to remove it.",
        "yes_stop": "Stop",
        "full": "The study is full",
        "full_text": "All places are taken. Please return your submission.",
        "unfit": "This study is for others",
        "unfit_text": "Please return your submission. It needs people who speak:",
        "taken": "You began in another browser",
        "taken_text": "Please go back to the browser in which you began. If you cannot, write to us.",
        "unlisted": "This study is for others",
        "unlisted_text": "Your ID is not on the list of those who are invited. Please return your submission.",
        "crowded": "Many people have begun here just now",
        "crowded_text": "Nobody else can begin from your network within an hour. Please open the link again later.",
        "cookies": "This page needs a cookie",
        "cookies_text": "Without it we would not know you again. Please allow cookies, and open the link again.",
        "keeps_id": "Your ID at Prolific is stored with what you type, so that you can be paid.",
        "gone": "This link is not valid any more",
        "gone_text": "If that is a mistake, tell the people who sent it to you.",
    },
    "zh": {
        "title": "辨认被遮盖的文字",
        "you": "您的编号是",
        "of": "/",
        "step": "图片",
        "loading": "请稍候……",
        "script": "本页面需要 JavaScript。",
        "agree": "我已阅读以上内容，同意参加。",
        "start": "开始",
        "languages": "您会说哪些语言？请把母语写在最前面。",
        "instructions": "怎么做",
        "consent": "开始之前",
        "needs": "请勾选同意，并至少填写一种语言。",
        "picture": "带有文字的图片，文字有几处被遮住",
        "size": "图片大小",
        "word": "个词",
        "words": "个词",
        "character": "个字",
        "characters": "个字",
        "example": "示例",
        "example_text": "按阅读顺序，被遮住的内容是：",
        "field": "被遮住的部分",
        "cannot": "认不出",
        "next": "下一张",
        "back": "上一张",
        "stop": "到此为止",
        "saved": "已保存",
        "saving": "正在保存……",
        "offline": "没有网络：已存在此浏览器中，稍后发送。",
        "unsaved": "未保存",
        "refused": "内容无法保存，已留在此浏览器中；请修改。原因：",
        "drop": "放弃我的修改",
        "fill": "请输入内容，或勾选“认不出”。",
        "training": "练习：之后会显示答案",
        "answers": "答案",
        "right": "正确",
        "wrong": "不完全对",
        "check": "这是一项检查，看看是否有人在读。请输入图片中的数字。",
        "number": "数字",
        "pause": "休息一下",
        "pause_text": "请让眼睛休息，多久都可以。",
        "go_on": "继续",
        "end": "这是最后一张",
        "end_text": "您可以返回修改，然后发送。",
        "more": "再做一些",
        "more_text": "有人提前停止了。如果您愿意，可以再做一些剩下的。",
        "send": "全部发送",
        "unsent": "还有内容没有送达，请不要关闭此页面。",
        "thanks": "谢谢您",
        "thanks_text": "全部内容已送达，您可以关闭此页面了。",
        "code": "您的完成码",
        "return": "返回 Prolific",
        "review": "支付报酬之前，研究者会查看您的回答。",
        "other_tab": "已在别处打开",
        "other_text": "本研究已在另一个标签页或窗口中打开。您输入的内容没有丢失。",
        "take_over": "在这里继续",
        "left": "您已停止",
        "sure": "确定要停止吗？",
        "left_text": "您完成的部分会保留，除非您要求我们删除。",
        "yes_stop": "停止",
        "full": "名额已满",
        "full_text": "所有名额已被占用，请退回您的任务。",
        "unfit": "本研究需要其他参加者",
        "unfit_text": "请退回您的任务。本研究需要会说以下语言的人：",
        "taken": "您是在另一个浏览器中开始的",
        "taken_text": "请回到您开始时所用的设备和浏览器。如果已无法使用，请联系研究者。",
        "unlisted": "本研究需要其他参加者",
        "unlisted_text": "您的编号不在受邀名单中，请退回您的任务。",
        "crowded": "刚才已有许多人从这里开始",
        "crowded_text": "一小时内，您所在的网络不能再有人开始。请稍后重新打开链接。",
        "cookies": "本页面需要 Cookie",
        "cookies_text": "没有它，我们就无法再次认出您。请允许本页面使用 Cookie，然后重新打开链接。",
        "keeps_id": "我们会保存您的 Prolific 编号，以便支付报酬。",
        "gone": "此链接已失效",
        "gone_text": "如果有误，请联系研究者。",
    },
}
