//! The commonest errors of operating systems, shells and make in further languages, as their message catalogues have them.
//!
//! Must not know tools: English, German, French and Chinese stand with the rules for what they tell.

use crate::cause::*;
use crate::rule::{Rule, rule};

pub(super) static RULES: &[Rule] = &[
    rule(
        "tongue.file",
        &FILE_MISSING,
        76,
        r"(?i)no existe el (?:fichero|archivo) o el directorio|file o directory non esistente|(?:arquivo|ficheiro) ou diret[óo]rio (?:não encontrado|inexistente)|そのようなファイルやディレクトリはありません|нет такого файла или каталога|nie ma takiego pliku ani katalogu|bestand of map bestaat niet|그런 파일이나 디렉터리가 없습니다|filen eller katalogen finns inte",
        (
            &[
                "cp: no se puede efectuar `stat' sobre 'a': No existe el fichero o el directorio",
                "cat: a: Нет такого файла или каталога",
            ],
            &["existe"],
        ),
    ),
    rule(
        "tongue.denied",
        &PERMISSION_DENIED,
        78,
        r"(?i)permiso denegado|permesso negato|permissão (?:negada|recusada)|許可がありません|отказано в доступе|brak dostępu|toegang geweigerd|허가 거부|åtkomst nekas",
        (&["cat: /etc/shadow: Permiso denegado", "cat: /etc/shadow: 許可がありません"], &["permiso"]),
    ),
    rule(
        "tongue.disk",
        &DISK_FULL,
        90,
        r"(?i)no queda espacio en el dispositivo|spazio esaurito sul (?:device|dispositivo)|não há espaço|デバイスに空き領域がありません|не осталось места на устройстве|на устройстве не осталось (?:свободного )?места|brak (?:wolnego )?miejsca na urządzeniu|geen ruimte meer (?:over )?op apparaat|장치에 남은 공간이 없음",
        (&["cp: error al escribir en 'y': No queda espacio en el dispositivo"], &["espacio"]),
    ),
    rule(
        "tongue.readonly",
        &READ_ONLY,
        89,
        r"(?i)sistema de (?:ficheros|archivos) de s[óo]lo lectura|file system in sola lettura|sistema de (?:arquivos|ficheiros) somente (?:para )?leitura|読み込み専用ファイルシステム|файловая система доступна только (?:для|на) чтени|system plików (?:jest )?tylko do odczytu",
        (&["touch: no se puede tocar 'x': Sistema de ficheros de solo lectura"], &["lectura"]),
    ),
    rule(
        "tongue.refused",
        &CONN_REFUSED,
        86,
        r"(?i)conexión (?:rehusada|rechazada)|connessione rifiutata|conexão recusada|接続を拒否|в соединении отказано|połączenie odrzucone|verbinding is geweigerd|연결이 거부됨",
        (&["wget: falló: Conexión rehusada."], &["conexión"]),
    ),
    rule(
        "tongue.dns",
        &DNS,
        88,
        r"(?i)no se (?:pudo|puede) resolver|impossibile risolvere|não foi possível resolver|名前解決|не удалось (?:разрешить|определить) (?:имя|адрес)|nie udało się rozwiązać|nombre o servicio desconocido|nome o servizio sconosciuto|имя или служба не известны",
        (&["wget: no se pudo resolver la dirección del equipo «ledger.internal»"], &["resolver"]),
    ),
    rule(
        "tongue.target",
        &MISSING_SCRIPT,
        86,
        r"(?i)no hay ninguna regla para construir|nessuna regola per (?:generare|creare)|sem regra para processar|ルールがありません|нет правила для (?:сборки|цели)|brak reguł do (?:zrobienia|wykonania)|geen regel om",
        (&["make: *** No hay ninguna regla para construir el objetivo 'x', necesario para 'all'.  Alto."], &["regla"]),
    ),
    rule(
        "tongue.syntax",
        &COMPILE_SYNTAX,
        84,
        r"(?i)error (?:sintáctico|de sintaxis)|errore di sintassi|erro de sintaxe|構文エラー|синтаксическая ошибка|ошибка синтаксиса|błąd składni|syntaxfout|구문 오류",
        (&["j.sh: línea 3: error sintáctico: no se esperaba el final del fichero"], &["sintaxis"]),
    ),
    rule(
        "tongue.command",
        &MISSING_COMMAND,
        84,
        r"(?i): (?:orden no encontrada|no se encontró la orden|comando non trovato|comando não encontrado|コマンドが見つかりません|команда не найдена|nie znaleziono polecenia|opdracht niet gevonden|명령을 찾을 수 없음)",
        (&["a.sh: línea 1: foo: orden no encontrada"], &["orden"]),
    ),
];
