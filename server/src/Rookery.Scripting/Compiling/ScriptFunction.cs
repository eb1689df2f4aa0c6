namespace Rookery.Scripting.Compiling;

/// <summary>
/// The functions that scripts may call. Numbers are part of the journal's format: patches travel compiled. Where a
/// receiver is named, it is the first argument.
/// </summary>
internal enum ScriptFunction : byte
{
    ToLowerCase = 1,
    ToUpperCase = 2,
    Trim = 3,
    TrimStart = 4,
    TrimEnd = 5,
    Substr = 6,
    Substring = 7,
    Slice = 8,
    StartsWith = 9,
    EndsWith = 10,
    Includes = 11,
    IndexOf = 12,
    LastIndexOf = 13,
    Replace = 14,
    ReplaceAll = 15,
    Split = 16,
    Concat = 17,
    CharAt = 18,
    Repeat = 19,
    PadStart = 20,
    PadEnd = 21,
    ToText = 22,
    ToFixed = 23,
    Join = 24,
    Push = 25,
    Pop = 26,
    Shift = 27,
    Unshift = 28,
    Splice = 29,
    Reverse = 30,
    Flat = 31,
    Sort = 32,

    Round = 40,
    Floor = 41,
    Ceiling = 42,
    Absolute = 43,
    Truncate = 44,
    Sign = 45,
    Minimum = 46,
    Maximum = 47,
    ToNumber = 50,
    ToTextOf = 51,
    ToBoolean = 52,
    ParseInteger = 53,
    ParseFloat = 54,
    IsNaN = 55,
    IsInteger = 56,
    IsFinite = 57,
    IsArray = 58,
    Keys = 59,
    Values = 60,
    Entries = 61,

    Id = 70,
    Load = 71,
    Metadata = 72,

    /// <summary>Of an array: the sum of its numbers.</summary>
    Sum = 80,

    /// <summary>Of an array: its least number or text.</summary>
    Least = 81,

    /// <summary>Of an array: its greatest number or text.</summary>
    Greatest = 82,

    /// <summary>Of an array: the sum of its numbers, divided by their count; null of none.</summary>
    Average = 83,

    /// <summary>Of an array: each value once.</summary>
    Distinct = 84,

    /// <summary>Of a sequence or text: its length, and 0 of nothing.</summary>
    Count = 87,

    /// <summary>
    /// A value and a name: the member of an object; of others what C# calls so, such as the length of a text or the
    /// year of a date. This and what follows is C#'s; no patch has it.
    /// </summary>
    Property = 90,
    Plus = 91,
    Minus = 92,
    Times = 93,
    DividedBy = 94,
    Modulo = 95,
    IsSame = 96,
    IsLess = 97,
    IsLessOrEqual = 98,
    IsGreater = 99,
    IsGreaterOrEqual = 100,

    Negated = 101,

    /// <summary>Of a bool or nothing, which is false.</summary>
    Condition = 102,
    CastToLong = 103,
    CastToInt = 104,
    CastToDouble = 105,
    CastToFloat = 106,
    CastToDecimal = 107,
    ParseLong = 108,
    ParseInt = 109,
    ParseDouble = 110,
    ParseDecimal = 111,
    ParseBoolean = 112,
    ConvertToLong = 113,
    ConvertToInt = 114,
    ConvertToDouble = 115,
    ConvertToDecimal = 116,
    ConvertToBoolean = 117,

    /// <summary>Of a value, and of its format where there is one: <c>ToString()</c>.</summary>
    CSharpText = 118,

    /// <summary>The cast to <c>string</c>: of a string that a document wrote as a date the string.</summary>
    CastToText = 119,

    CSharpRound = 120,
    CSharpFloor = 121,
    CSharpCeiling = 122,
    CSharpTruncate = 123,
    CSharpAbsolute = 124,
    CSharpSign = 125,
    CSharpMinimum = 126,
    CSharpMaximum = 127,
    Power = 128,
    SquareRoot = 129,

    CSharpToLower = 130,
    CSharpToUpper = 131,
    CSharpTrim = 132,
    CSharpTrimStart = 133,
    CSharpTrimEnd = 134,
    CSharpSubstring = 135,

    /// <summary>Of a text or a sequence.</summary>
    CSharpIncludes = 136,
    CSharpStartsWith = 137,
    CSharpEndsWith = 138,
    CSharpIndexOf = 139,
    CSharpLastIndexOf = 140,
    CSharpReplace = 141,

    /// <summary>Of a text and an array of separators; options behind them.</summary>
    CSharpSplit = 142,
    CSharpPadLeft = 143,
    CSharpPadRight = 144,
    CSharpInsert = 145,
    CSharpRemove = 146,
    IsNullOrEmpty = 147,
    IsNullOrWhiteSpace = 148,

    /// <summary>Of a separator and a sequence.</summary>
    JoinWith = 149,

    /// <summary>Of an array: <c>string.Concat</c>.</summary>
    JoinAll = 150,

    /// <summary>Of a format and an array: <c>string.Format</c>.</summary>
    FormatText = 151,
    CompareOrdinal = 152,
    IsSameText = 153,

    /// <summary>
    /// <c>a.Equals(b)</c>: of two numbers only where the second is of the first's type, or becomes one.
    /// </summary>
    IsEqual = 154,

    /// <summary>Of a text of one character: a <c>char</c>.</summary>
    ToCharacter = 155,

    NewDate = 160,
    NewDay = 161,
    NewSpan = 162,

    /// <summary>Of a number and the name of a unit.</summary>
    SpanFrom = 163,

    /// <summary>Of a date, a number and the name of a unit.</summary>
    AddTo = 164,
    ParseDate = 165,
    ParseSpan = 166,
    CompareTo = 167,

    /// <summary>Of anything that C# walks over: an array; of a dictionary its entries.</summary>
    ToSequence = 180,

    /// <summary>As <see cref="Property"/>, but of an object without such a member what a dictionary has.</summary>
    PropertyOfDictionary = 181,
    ElementAt = 182,
    ElementAtOrNothing = 183,
    ContainsKey = 184,
    CSharpSkip = 185,
    CSharpTake = 186,
    CSharpReverse = 187,
    CSharpConcat = 188,
    WithElement = 189,
    Union = 190,
    Intersect = 191,
    Except = 192,
    FirstOf = 193,
    LastOf = 194,
    OnlyOf = 195,
    FirstOrNothing = 196,
    LastOrNothing = 197,
    OnlyOrNothing = 198,

    /// <summary>A sequence, or one of a value where it has no element.</summary>
    OrNothing = 199,
    IsSameSequence = 200,

    /// <summary>Of pairs of an element and its keys, and a text of directions: the elements in order.</summary>
    SortedByKeys = 201,
}
