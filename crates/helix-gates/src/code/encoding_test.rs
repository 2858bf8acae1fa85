use super::*;

#[test]
fn an_encoding_counts_where_python_reads_it() {
    let plain = [
        "x = 1\n",
        "# -*- coding: utf-8 -*-\n",
        "#!/usr/bin/python\n# vim: set fileencoding=UTF_8 :\n",
        "# -*- coding: utf-8-unix -*-\n",
        "\u{feff}# coding=latin-1\n",
        "# coding: utf-8\n# coding: utf-7\n",
        "x = 1\n# coding: utf-7\n",
        "#\n#\n# coding: utf-7\n",
        "x = 'coding: utf-7'\n",
    ];
    for source in plain {
        assert_eq!(other_encoding(source), None, "{source:?}");
    }
    let other = [
        ("# -*- coding: raw_unicode_escape -*-\n", (1, "raw_unicode_escape")),
        ("#!/usr/bin/python\n  \u{c}# the coding, coding:utf-7\n", (2, "utf-7")),
        ("\n#coding=cp1252", (2, "cp1252")),
        ("#\r\n# coding: rot13\r\n", (2, "rot13")),
        ("#\r# coding: utf-16\r", (2, "utf-16")),
        ("# coding: utf-8-x\n", (1, "utf-8-x")),
        ("\u{feff}# coding: utf-7\n", (1, "utf-7")),
    ];
    for (source, found) in other {
        assert_eq!(other_encoding(source), Some(found), "{source:?}");
    }
}
