using System.Text;

namespace Rookery.Search.Analysis;

/// <summary>
/// Maps letters to their form without marks: the compatibility decomposition of Unicode 14 without combining marks, for
/// Latin, Greek, Cyrillic and Armenian letters below U+2200, and letters that Unicode does not decompose (ß, æ, ø, đ,
/// ł). The table is fixed here and not taken from the runtime, so that every version finds the words that another
/// version indexed.
/// </summary>
internal static class FoldingTable
{
    private const int LengthBits = 3;

    private const int End = 0x2200;

    // The replacement, a space, then the letters that it replaces.
    private static readonly string[] Rows =
    [
        "a ªàáâãäåāăąǎǟǡǻȁȃȧḁạảấầẩẫậắằẳẵặₐ",
        "ae æǣǽ",
        "b ḃḅḇ",
        "c çćĉċčḉ",
        "d ðďđḋḍḏḑḓ",
        "dz ǆǳ",
        "e èéêëēĕėęěȅȇȩḕḗḙḛḝẹẻẽếềểễệₑ",
        "f ƒḟ",
        "g ĝğġģǧǵḡ",
        "h ĥħȟḣḥḧḩḫẖₕ",
        "i ìíîïĩīĭįİıǐȉȋɨᵢḭḯỉị",
        "ij ĳ",
        "j ĵǰ",
        "k ķǩḱḳḵₖ",
        "l ŀĺļľłḷḹḻḽₗ",
        "lj ǉ",
        "m ḿṁṃₘ",
        "n ñńņňŋǹṅṇṉṋₙ",
        "nj ǌ",
        "o ºòóôõöøōŏőơǒǫǭǿȍȏȫȭȯȱṍṏṑṓọỏốồổỗộớờởỡợₒ",
        "oe œ",
        "p ṕṗₚ",
        "r ŕŗřȑȓᵣṙṛṝṟ",
        "s śŝşšſșṡṣṥṧṩẛₛ",
        "ss ß",
        "t ţťŧțṫṭṯṱẗₜ",
        "th þ",
        "u ùúûüũūŭůűųưǔǖǘǚǜȕȗʉᵤṳṵṷṹṻụủứừửữự",
        "v ᵥṽṿ",
        "w ŵẁẃẅẇẉẘ",
        "x ẋẍₓ",
        "y ýÿŷȳẏẙỳỵỷỹ",
        "z źżžẑẓẕ",
        "ə ₔ",
        "ʒ ǯ",
        "α άἀἁἂἃἄἅἆἇὰάᾀᾁᾂᾃᾄᾅᾆᾇᾰᾱᾲᾳᾴᾶᾷ",
        "β ϐᵦ",
        "γ ᵧ",
        "ε έϵἐἑἒἓἔἕὲέ",
        "η ήἠἡἢἣἤἥἦἧὴήᾐᾑᾒᾓᾔᾕᾖᾗῂῃῄῆῇ",
        "θ ϑ",
        "ι ΐίϊἰἱἲἳἴἵἶἷὶίιῐῑῒΐῖῗ",
        "κ ϰ",
        "ο όὀὁὂὃὄὅὸό",
        "π ϖ",
        "ρ ϱᵨῤῥ",
        "σ ςϲ",
        "υ ΰϋύϒϓϔὐὑὒὓὔὕὖὗὺύῠῡῢΰῦῧ",
        "φ ϕᵩ",
        "χ ᵪ",
        "ω ώὠὡὢὣὤὥὦὧὼώᾠᾡᾢᾣᾤᾥᾦᾧῲῳῴῶῷ",
        "а ӑӓ",
        "г ѓ",
        "е ѐёӗ",
        "ж ӂӝ",
        "з ӟ",
        "и йѝӣӥ",
        "к ќ",
        "о ӧ",
        "у ўӯӱӳ",
        "ч ӵ",
        "ы ӹ",
        "э ӭ",
        "і ї",
        "ѵ ѷ",
        "ә ӛ",
        "ө ӫ",
        "եւ և",
    ];

    private static readonly byte[] Texts =
    [
        .. Rows.SelectMany(static row => Encoding.UTF8.GetBytes(row[..row.IndexOf(' ', StringComparison.Ordinal)])),
    ];

    // For each letter, the offset and length of its replacement in Texts; 0 if it has none.
    private static readonly ushort[] Places = MakePlaces();

    /// <summary>Returns the replacement of a lower-case letter in UTF-8; empty if it has none.</summary>
    internal static ReadOnlySpan<byte> Find(int letter)
    {
        int place = letter < End ? Places[letter] : 0;
        return Texts.AsSpan(place >> LengthBits, place & ((1 << LengthBits) - 1));
    }

    private static ushort[] MakePlaces()
    {
        var places = new ushort[End];
        int offset = 0;
        foreach (string row in Rows)
        {
            int separator = row.IndexOf(' ', StringComparison.Ordinal);
            int length = Encoding.UTF8.GetByteCount(row.AsSpan(0, separator));
            foreach (char letter in row.AsSpan(separator + 1))
            {
                places[letter] = (ushort)((offset << LengthBits) | length);
            }

            offset += length;
        }

        return places;
    }
}
