// Texts of many kinds for the test of the token estimate, and for the script that learns its weights.

/** Prose about a failed build, one paragraph in each language. */
const prose: Record<string, string> = {
  english:
    "The build failed after nine minutes because two tests could not reach the database. The first one waited for a connection that never came, the second one read a file which an earlier step had already removed. Nobody noticed at once, since the log was forty thousand lines long and the summary only said that something went wrong. We raised the timeout, kept the file until the end of the run and started the job again.",
  german:
    "Der Bau brach nach neun Minuten ab, weil zwei Prüfungen die Datenbank nicht erreichten. Die erste wartete auf eine Verbindung, die nie zustande kam, die zweite las eine Datei, die ein früherer Schritt bereits gelöscht hatte. Zunächst fiel das niemandem auf, denn das Protokoll war vierzigtausend Zeilen lang, und die Zusammenfassung meldete nur, dass etwas schiefgegangen sei.",
  french:
    "La compilation a échoué au bout de neuf minutes parce que deux tests n’arrivaient pas à joindre la base de données. Le premier attendait une connexion qui n’est jamais venue, le second lisait un fichier qu’une étape précédente avait déjà effacé. Personne ne l’a remarqué tout de suite, car le journal comptait quarante mille lignes et le résumé disait seulement qu’une erreur s’était produite.",
  turkish:
    "Derleme dokuz dakika sonra başarısız oldu, çünkü iki test veritabanına ulaşamadı. Birincisi hiç gelmeyen bir bağlantıyı bekledi, ikincisi önceki bir adımın çoktan sildiği bir dosyayı okumaya çalıştı. Günlük kırk bin satır uzunluğunda olduğu için bunu hemen kimse fark etmedi.",
  vietnamese:
    "Quá trình dựng thất bại sau chín phút vì hai bài kiểm thử không kết nối được tới cơ sở dữ liệu. Bài thứ nhất chờ một kết nối không bao giờ đến, bài thứ hai đọc một tệp mà bước trước đó đã xóa. Không ai nhận ra ngay, vì nhật ký dài bốn mươi nghìn dòng.",
  greek:
    "Η κατασκευή απέτυχε ύστερα από εννέα λεπτά, επειδή δύο δοκιμές δεν μπόρεσαν να φτάσουν στη βάση δεδομένων. Η πρώτη περίμενε μια σύνδεση που δεν ήρθε ποτέ, η δεύτερη διάβαζε ένα αρχείο που ένα προηγούμενο βήμα είχε ήδη σβήσει.",
  russian:
    "Сборка упала через девять минут, потому что два теста не смогли подключиться к базе данных. Первый ждал соединения, которое так и не появилось, второй читал файл, уже удалённый на предыдущем шаге. Сразу этого никто не заметил: журнал занимал сорок тысяч строк, а в итогах говорилось лишь, что что-то пошло не так. Мы увеличили время ожидания, сохранили файл до конца запуска и начали заново.",
  hebrew:
    "הבנייה נכשלה אחרי תשע דקות כי שתי בדיקות לא הצליחו להגיע אל מסד הנתונים. הראשונה חיכתה לחיבור שלא הגיע, והשנייה קראה קובץ ששלב קודם כבר מחק. אף אחד לא שם לב מיד, כי היומן היה באורך ארבעים אלף שורות.",
  arabic:
    "فشل البناء بعد تسع دقائق لأن اختبارين لم يتمكنا من الوصول إلى قاعدة البيانات. انتظر الأول اتصالا لم يأت أبدا، وقرأ الثاني ملفا كانت خطوة سابقة قد حذفته. لم يلاحظ أحد ذلك فورا لأن السجل كان يتألف من أربعين ألف سطر، ولم يذكر الملخص سوى أن خطأ ما قد حدث.",
  hindi:
    "नौ मिनट के बाद निर्माण विफल हो गया क्योंकि दो परीक्षण डेटाबेस तक नहीं पहुँच सके। पहला एक ऐसे संपर्क की प्रतीक्षा करता रहा जो कभी नहीं आया, दूसरा एक ऐसी फ़ाइल पढ़ रहा था जिसे पिछले चरण ने पहले ही हटा दिया था। किसी ने तुरंत ध्यान नहीं दिया क्योंकि लॉग चालीस हज़ार पंक्तियों का था।",
  tamil:
    "இரண்டு சோதனைகள் தரவுத்தளத்தை அடைய முடியாததால் ஒன்பது நிமிடங்களுக்குப் பிறகு உருவாக்கம் தோல்வியடைந்தது. முதல் சோதனை வராத ஓர் இணைப்புக்காகக் காத்திருந்தது, இரண்டாவது ஏற்கனவே நீக்கப்பட்ட கோப்பைப் படித்தது.",
  thai: "การสร้างล้มเหลวหลังจากเก้านาทีเพราะการทดสอบสองรายการเชื่อมต่อฐานข้อมูลไม่ได้ รายการแรกรอการเชื่อมต่อที่ไม่เคยมาถึง รายการที่สองอ่านไฟล์ที่ขั้นตอนก่อนหน้าลบไปแล้ว ไม่มีใครสังเกตเห็นทันทีเพราะบันทึกยาวสี่หมื่นบรรทัด",
  chinese:
    "构建在九分钟后失败，因为有两个测试无法连接数据库。第一个测试一直在等待一个从未建立的连接，第二个测试读取了一个早已被前面的步骤删除的文件。当时没有人立刻发现，因为日志长达四万行，而摘要只说出现了错误。我们延长了超时时间，把文件保留到运行结束，然后重新启动了任务。",
  japanese:
    "二つのテストがデータベースに接続できなかったため、ビルドは九分後に失敗しました。一つ目は来ることのない接続を待ち続け、二つ目は前のステップですでに削除されたファイルを読み込もうとしていました。ログが四万行もあったので、誰もすぐには気づきませんでした。",
  korean:
    "두 개의 테스트가 데이터베이스에 연결하지 못해 빌드가 구 분 만에 실패했습니다. 첫 번째 테스트는 끝내 오지 않은 연결을 기다렸고, 두 번째 테스트는 이전 단계에서 이미 삭제된 파일을 읽었습니다. 로그가 사만 줄이나 되어 아무도 바로 알아차리지 못했습니다.",
  emoji:
    "✅ 12 passed 🎉 ❌ 3 failed 😱 🚀 deployed 🐳 docker 👩‍💻 👍🏽 🇩🇪 🇯🇵 ⚠️ warning 🔥🔥🔥 💯 🧪 🧹 📦 📝 🔒 🕐 ✨",
};

/** Returns a small generator of numbers in [0, 1). The same seed gives the same numbers everywhere. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}

/** Returns texts of at least `chars` units, by kind. */
export function tokenSamples(seed: number, chars = 2500): Record<string, string> {
  const random = seededRandom(seed);
  const below = (end: number): number => Math.floor(random() * end);
  const pick = (from: string): string => from[below(from.length)] ?? "";
  const letters = (from: string, count: number): string => Array.from({ length: count }, () => pick(from)).join("");
  const grow = (next: () => string): string => {
    let text = "";
    while (text.length < chars) text += next();
    return text;
  };
  const range = (from: number, to: number) => (): string => String.fromCodePoint(from + below(to - from + 1));
  const lower = "abcdefghijklmnopqrstuvwxyz";
  const digits = "0123456789";
  const hexDigits = "0123456789abcdef";
  const base64 = `${lower}${lower.toUpperCase()}${digits}+/`;
  const uuid = (): string => [8, 4, 4, 4, 12].map((count) => letters(hexDigits, count)).join("-");
  const time = (): string =>
    `2026-0${1 + below(9)}-1${below(10)}T0${below(10)}:${10 + below(50)}:${10 + below(50)}.${100 + below(900)}Z`;
  const samples: Record<string, string> = {
    base64: grow(() => letters(base64, 1000)),
    "base64 lines": grow(() => `${letters(base64, 76)}\n`),
    hex: grow(() => letters(hexDigits, 1000)),
    "hex dump": grow(
      () => `${letters(hexDigits, 8)}  ${Array.from({ length: 16 }, () => letters(hexDigits, 2)).join(" ")}\n`,
    ),
    hashes: grow(() => `${letters(hexDigits, 40)}  ${letters(lower, 7)}.tar.gz\n`),
    uuids: grow(() => `${uuid()}\n`),
    json: grow(
      () =>
        `{"id":${below(100000)},"name":"item ${below(500)}","ok":${random() < 0.5},"score":${random().toFixed(3)},"tags":["alpha","beta"]},`,
    ),
    "json pretty": `${JSON.stringify(
      Array.from({ length: Math.ceil(chars / 110) }, () => ({
        id: below(9999),
        path: "src/index.ts",
        ok: true,
        at: time(),
      })),
      null,
      2,
    )}\n`,
    "minified script": grow(
      () =>
        `function ${pick(lower)}(${pick(lower)},${pick(lower)}){return ${pick(lower)}.${letters(lower, 2)}?${pick(lower)}[${below(99)}]:${pick(lower)}(null,${below(9)})}var ${letters(lower, 2)}=${pick(lower)}&&!${pick(lower)};`,
    ),
    "csv numbers": grow(
      () => `${below(100000)},${(random() * 1000).toFixed(4)},${random().toFixed(6)},${below(100)},${-below(1000)}\n`,
    ),
    digits: grow(() => letters(digits, 1000)),
    "number table": grow(
      () =>
        `${String(below(99999)).padStart(10)} ${(random() * 100).toFixed(2).padStart(8)} ${String(below(999)).padStart(6)}\n`,
    ),
    "times and levels": grow(
      () =>
        `${time()} [${random() < 0.8 ? "INFO" : "ERROR"}] worker-${below(16)}: request ${below(9999)} took ${below(900)} ms\n`,
    ),
    addresses: grow(
      () =>
        `${below(255)}.${below(255)}.${below(255)}.${below(255)} - - "GET /api/v${below(4)}/users/${below(9999)} HTTP/1.1" ${200 + below(300)} ${below(99999)}\n`,
    ),
    "terminal codes": grow(() => `\u001b[${30 + below(8)}m${letters(lower, 5)}\u001b[0m ${below(100)}%\r\u001b[K`),
    "random lower": grow(() => letters(lower, 1000)),
    "random words": grow(() => `${letters(lower, 1 + below(10))} `),
    "random upper": grow(() => `${letters(lower.toUpperCase(), 1 + below(12))}${random() < 0.5 ? "_" : " "}`),
    "random ascii": grow(range(0x21, 0x7e)),
    "punctuation runs": grow(() => letters("()[]{}<>.,;:!?'\"`=-+*/\\|&^%$#@~_", 40)),
    rules: grow(() => `${pick("-=*#_~.").repeat(20 + below(80))}\n`),
    indents: grow(() => `${" ".repeat(2 * below(12))}${letters(lower, 3)}\n`),
    tabs: grow(() => `${"\t".repeat(1 + below(5))}${letters(lower, 3)}\n`),
    spaces: grow(() => " ".repeat(1000)),
    newlines: grow(() => "\n".repeat(1000)),
    controls: grow(() => String.fromCharCode(below(32))),
    combining: grow(range(0x300, 0x36f)),
    "letters with marks": grow(() => `${pick(lower)}${range(0x300, 0x36f)()}`),
    replacement: grow(() => `${"\ufffd".repeat(1 + below(4))}${pick(lower)}`),
    "box drawing": grow(() => `│ ${letters(lower, 5)} │ ${"─".repeat(3 + below(30))}┤ ✓ → …\n`),
    "random latin": grow(() => `${range(0xe0, 0xff)()}${letters(lower, 3)} `),
    "random han": grow(range(0x4e00, 0x9fa5)),
    "rare han": grow(range(0x20000, 0x2a6d0)),
    "random kana": grow(range(0x3041, 0x30fe)),
    "random hangul": grow(range(0xac00, 0xd7a3)),
    "random emoji": grow(range(0x1f300, 0x1f64f)),
    "random scripts": grow(range(0x0530, 0x1fff)),
    "private use": grow(range(0xe000, 0xf8ff)),
    "random code points": grow(() => range(0x80, 0xffff)().replace(/[\ud800-\udfff]/, "\u{10ffff}")),
    "lone surrogates": grow(() => `\ud800${pick(lower)}\udc00`),
  };
  for (const [name, text] of Object.entries(prose)) samples[name] = grow(() => `${text}\n`);
  return samples;
}

/** Letters of scripts: whole blocks, and the letters that are in use. */
const scripts: Record<string, [from: number, to: number][]> = {
  latin: [[0xc0, 0x24f]],
  greek: [[0x370, 0x3ff]],
  "greek letters": [[0x3b1, 0x3c9]],
  cyrillic: [[0x400, 0x52f]],
  "cyrillic letters": [[0x430, 0x44f]],
  armenian: [[0x531, 0x586]],
  hebrew: [[0x590, 0x5ff]],
  "hebrew letters": [[0x5d0, 0x5ea]],
  arabic: [[0x600, 0x6ff]],
  "arabic letters": [[0x627, 0x64a]],
  devanagari: [[0x900, 0x97f]],
  "devanagari letters": [
    [0x905, 0x939],
    [0x93e, 0x94c],
  ],
  bengali: [[0x980, 0x9ff]],
  tamil: [[0xb80, 0xbff]],
  telugu: [[0xc00, 0xc7f]],
  thai: [[0xe00, 0xe7f]],
  lao: [[0xe80, 0xeff]],
  tibetan: [[0xf00, 0xfff]],
  georgian: [[0x10a0, 0x10ff]],
  ethiopic: [[0x1200, 0x137f]],
  khmer: [[0x1780, 0x17ff]],
  vietnamese: [[0x1ea0, 0x1ef9]],
  kana: [[0x3041, 0x30fe]],
  han: [[0x4e00, 0x9fa5]],
  "rare han": [[0x3400, 0x4dbf]],
  hangul: [[0xac00, 0xd7a3]],
  yi: [[0xa000, 0xa4cf]],
  "wide forms": [[0xff01, 0xff5e]],
  signs: [[0x2010, 0x205e]],
  symbols: [[0x2100, 0x2bff]],
  "any of the first plane": [[0x80, 0xd7ff]],
  "any of the others": [[0x10000, 0x10ffff]],
};

/** Texts that nobody writes, by name: characters again and again, in turn and at random. */
export function* oddShapes(seed: number): Generator<[name: string, text: string]> {
  const random = seededRandom(seed);
  const pick = (from: readonly string[]): string => from[Math.floor(random() * from.length)] ?? "";
  const ascii = [..."\n\t\r", ...Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index))];
  const wide = [..."─│┌├└█▓░═║•…→✓é€«»–—“”☃\u00a0\u200b\u3000\ufeff"];
  for (const character of [...ascii, ...wide])
    for (const count of [20, 100, 300]) yield [`${count} times ${JSON.stringify(character)}`, character.repeat(count)];
  const signs = ascii.filter((character) => !/[A-Za-z]/.test(character));
  for (const one of ascii)
    for (const other of ascii)
      if (one !== other) yield [`${JSON.stringify(one + other)} again and again`, (one + other).repeat(60)];
  for (let index = 0; index < 4000; index++) {
    const text = pick(signs) + pick(signs) + pick(signs) + (index % 2 === 0 ? "" : pick(signs));
    yield [`${JSON.stringify(text)} again and again`, text.repeat(40)];
  }
  const alphabets = {
    punctuation: "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~",
    ascii: ascii.slice(3).join(""),
    "letters and digits": "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
    letters: "abcdefghijklmnopqrstuvwxyz",
    brackets: "()[]{}<>",
    quotes: "\"'`",
    marks: "!?@$%^&|",
    rules: "=*#~+",
    commas: ",;:",
    blanks: " \n\t\r",
    "box drawing": "│├└─┌┐┘┬┴┼ ",
    blocks: "█▓▒░▄▀■□▪",
    arrows: "→←↑↓✓✗•·…",
    accents: "àáâãäåæçèéêëìíîïñòóôõö",
    symbols: Array.from({ length: 0xa00 }, (_, index) => String.fromCharCode(0x2190 + index)).join(""),
    "upper latin-1": Array.from({ length: 0x7f }, (_, index) => String.fromCharCode(0x80 + index)).join(""),
  };
  for (const [name, alphabet] of Object.entries(alphabets))
    for (let index = 0; index < 30; index++)
      yield [`random ${name}`, Array.from({ length: 300 }, () => pick([...alphabet])).join("")];
  for (const [name, ranges] of Object.entries(scripts)) {
    const letter = () => {
      const [from, to] = ranges[Math.floor(random() * ranges.length)] ?? [0, 0];
      return String.fromCodePoint(from + Math.floor(random() * (to - from + 1)));
    };
    const word = () => Array.from({ length: 1 + Math.floor(random() * 9) }, letter).join("");
    for (let index = 0; index < 4; index++) {
      yield [`random ${name}`, Array.from({ length: 300 }, letter).join("")];
      yield [`random words of ${name}`, Array.from({ length: 60 }, word).join(" ")];
    }
  }
  for (let index = 0; index < 20; index++) {
    const line = () =>
      `${"│   ".repeat(Math.floor(random() * 4))}${pick(["├── ", "└── "])}${pick(["index", "main", "read", "app"])}${Math.floor(random() * 99)}.${pick(["ts", "md", "json"])}`;
    yield ["the output of tree", Array.from({ length: 60 }, line).join("\n")];
  }
}
