package document_test

import (
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"

	"parlance.dev/parlance/knowledge/document"
)

// The prose that encodings are detected from.
const (
	german = "Die Öffnungszeiten für größere Gruppen ändern sich im Frühjahr: täglich außer Montag. Über Rückfragen freuen wir uns sehr.\n"
	french = "Les élèves de l'école ont été reçus par le préfet à l'hôtel de ville, où la cérémonie s'est déroulée après le " +
		"déjeuner. « C'était très émouvant », dit-elle.\n"
	polish = "Wszystkie książki są dostępne w bibliotece głównej, która znajduje się przy ulicy Świętokrzyskiej. Proszę zwrócić " +
		"je w ciągu trzydziestu dni, żeby uniknąć kary.\n"
	czech = "Příliš žluťoučký kůň úpěl ďábelské ódy. Všechny knihy jsou k dispozici v hlavní knihovně, která se nachází v ulici " +
		"Na Příkopě a je otevřena každý den kromě neděle.\n"
	russian = "Библиотека открыта каждый день, кроме воскресенья. Все книги можно взять на тридцать дней, после чего их " +
		"необходимо вернуть или продлить срок.\n"
	greek = "Η βιβλιοθήκη είναι ανοιχτή κάθε μέρα εκτός Κυριακής. Όλα τα βιβλία μπορούν να δανειστούν για τριάντα ημέρες και " +
		"μετά πρέπει να επιστραφούν.\n"
	turkish = "Kütüphane pazar günü dışında her gün açıktır. Bütün kitaplar otuz gün için ödünç alınabilir, daha sonra geri " +
		"verilmeleri veya sürenin uzatılması gerekir. Şimdiden teşekkür ederiz.\n"
	hebrew   = "הספרייה פתוחה בכל יום מלבד יום ראשון. ניתן לשאול את כל הספרים לשלושים יום, ולאחר מכן יש להחזירם או להאריך את ההשאלה.\n"
	japanGo  = "図書館は日曜日を除いて毎日開いています。すべての本は三十日間借りることができ、その後は返却するか延長してください。\n"
	chinese  = "图书馆除星期日外每天开放。所有图书可以借阅三十天，之后必须归还或者办理续借手续。欢迎大家前来阅读。\n"
	chineseT = "圖書館除星期日外每天開放。所有圖書可以借閱三十天，之後必須歸還或者辦理續借手續。歡迎大家前來閱讀。\n"
	korean_  = "도서관은 일요일을 제외하고 매일 열려 있습니다. 모든 책은 삼십 일 동안 빌릴 수 있으며 그 후에는 반납하거나 연장해야 합니다.\n"
)

func TestEncodingsAreDetected(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name     string
		encoding encoding.Encoding
		text     string
	}{
		{"windows-1252", charmap.Windows1252, german},
		{"windows-1252 fr", charmap.Windows1252, french},
		{"iso-8859-1", charmap.ISO8859_1, german},
		{"windows-1250 pl", charmap.Windows1250, polish},
		{"windows-1250 cs", charmap.Windows1250, czech},
		{"iso-8859-2 pl", charmap.ISO8859_2, polish},
		{"iso-8859-2 cs", charmap.ISO8859_2, czech},
		{"windows-1251", charmap.Windows1251, russian},
		{"iso-8859-5", charmap.ISO8859_5, russian},
		{"koi8-r", charmap.KOI8R, russian},
		{"windows-1253", charmap.Windows1253, greek},
		{"iso-8859-7", charmap.ISO8859_7, greek},
		{"windows-1254", charmap.Windows1254, turkish},
		{"iso-8859-9", charmap.ISO8859_9, turkish},
		{"windows-1255", charmap.Windows1255, hebrew},
		{"shift_jis", japanese.ShiftJIS, japanGo},
		{"euc-jp", japanese.EUCJP, japanGo},
		{"iso-2022-jp", japanese.ISO2022JP, japanGo},
		{"gb18030", simplifiedchinese.GB18030, chinese},
		{"gbk", simplifiedchinese.GBK, chinese},
		{"big5", traditionalchinese.Big5, chineseT},
		{"euc-kr", korean.EUCKR, korean_},
		{"utf-16le bom", unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), russian},
		{"utf-16be bom", unicode.UTF16(unicode.BigEndian, unicode.UseBOM), russian},
		{"utf-16le", unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), german},
		{"utf-16be", unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), german},
		{"utf-16le ru", unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), russian},
		{"utf-16be zh", unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), chinese},
		{"utf-32le bom", utf32.UTF32(utf32.LittleEndian, utf32.UseBOM), chinese},
		{"utf-32be", utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM), chinese},
		{"utf-32le", utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM), german},
	}
	for _, row := range rows {
		for _, times := range []int{1, 5} {
			want := strings.TrimSpace(strings.Repeat(row.text, times))
			data, err := encoding.ReplaceUnsupported(row.encoding.NewEncoder()).String(strings.Repeat(row.text, times))
			if err != nil {
				t.Fatalf("%s: %v", row.name, err)
			}
			if err := document.Sniff("text/plain", []byte(data)); err != nil {
				t.Errorf("%s: refused at the door: %v", row.name, err)
			}
			if got := parse(t, "text/plain", data).Text; got != want {
				t.Errorf("%s × %d: got %.80q", row.name, times, got)
			}
		}
	}
}
