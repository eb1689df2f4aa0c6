namespace Rookery.Scripting.Compiling;

/// <summary>
/// The built-in functions of scripts. Their numbers are part of the journal's format, which holds compiled patches. The
/// functions from <see cref="Sum"/> to <see cref="FitLong"/> are those of C#, which patches cannot call. A method's
/// receiver is the first argument. The comments show arguments and result.
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

    /// <summary>array: the sum of its numbers.</summary>
    Sum = 80,

    /// <summary>array: its least number or text.</summary>
    Least = 81,

    /// <summary>array: its greatest number or text.</summary>
    Greatest = 82,

    /// <summary>array: the mean of its numbers; null if it has none.</summary>
    Average = 83,

    /// <summary>array: each value once.</summary>
    Distinct = 84,

    /// <summary>sequence or text: its length; 0 for null.</summary>
    Count = 87,

    /// <summary>
    /// value, name: a member of an object, or a C# property of any other value, such as the length of a text or the
    /// year of a date.
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

    /// <summary>Boolean or null: the Boolean; false for null.</summary>
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

    /// <summary>value, optional format: <c>ToString()</c>.</summary>
    CSharpText = 118,

    /// <summary>
    /// value: the cast to <c>string</c>. A string from a document stays a string even if it has the form of a date.
    /// </summary>
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

    /// <summary>text or sequence, wanted value.</summary>
    CSharpIncludes = 136,
    CSharpStartsWith = 137,
    CSharpEndsWith = 138,
    CSharpIndexOf = 139,
    CSharpLastIndexOf = 140,
    CSharpReplace = 141,

    /// <summary>text, array of separators, options.</summary>
    CSharpSplit = 142,
    CSharpPadLeft = 143,
    CSharpPadRight = 144,
    CSharpInsert = 145,
    CSharpRemove = 146,
    IsNullOrEmpty = 147,
    IsNullOrWhiteSpace = 148,

    /// <summary>separator, sequence.</summary>
    JoinWith = 149,

    /// <summary>array: <c>string.Concat</c>.</summary>
    JoinAll = 150,

    /// <summary>format, array: <c>string.Format</c>.</summary>
    FormatText = 151,
    CompareOrdinal = 152,
    IsSameText = 153,

    /// <summary>
    /// <c>a.Equals(b)</c>. Two numbers are equal only if the second has the type of the first or converts to it.
    /// </summary>
    IsEqual = 154,

    /// <summary>text of one character: a <c>char</c>.</summary>
    ToCharacter = 155,

    /// <summary><c>object.Equals(a, b)</c>. Two numbers are equal only if they have the same type.</summary>
    AreEqualObjects = 156,

    NewDate = 160,
    NewDay = 161,
    NewSpan = 162,

    /// <summary>number, name of a unit.</summary>
    SpanFrom = 163,

    /// <summary>date, number, name of a unit.</summary>
    AddTo = 164,
    ParseDate = 165,
    ParseSpan = 166,
    CompareTo = 167,

    /// <summary>
    /// array, null or object: an array. The elements of an object are its entries, as of a dictionary.
    /// </summary>
    ToSequence = 180,

    /// <summary>
    /// As <see cref="Property"/>. If an object has no such member, the result is the property of a dictionary.
    /// </summary>
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

    /// <summary>sequence, optional value: the sequence, or one with the value if it is empty.</summary>
    OrNothing = 199,
    IsSameSequence = 200,

    /// <summary>array of arrays (an element and its keys), text of directions: the sorted elements.</summary>
    SortedByKeys = 201,

    /// <summary>value: an integer of C# as an <c>int</c>. Fails for other numbers and for integers too large.</summary>
    FitInt = 202,

    /// <summary>value: an integer of C# as a <c>long</c>. Fails for other numbers.</summary>
    FitLong = 203,

    // Programs of the first version (ScriptProgram) do not have the functions from here on, which are JavaScript's.

    /// <summary>text or regular expression, flags: a regular expression.</summary>
    NewPattern = 204,
    TestPattern = 205,
    RunPattern = 206,
    MatchText = 207,
    MatchAll = 208,
    SearchPattern = 209,

    /// <summary>
    /// text, text or regular expression, whether all: an array with the arguments of a replacement function for each
    /// match.
    /// </summary>
    MatchesForCalls = 210,

    /// <summary>text, result of <see cref="MatchesForCalls"/>, array of replacements: the text with them.</summary>
    ReplaceMatches = 211,

    /// <summary>nothing, a value, or the parts of a date: a date of JavaScript.</summary>
    NewMoment = 212,

    /// <summary>The time of the run's command, in milliseconds.</summary>
    Now = 213,
    MomentOfParts = 214,
    ParseMoment = 215,

    /// <summary>date, number of a part.</summary>
    MomentPart = 216,

    /// <summary>date, number of the first part, values.</summary>
    SetMomentPart = 217,

    /// <summary>date, whether an invalid date is null.</summary>
    MomentIso = 218,

    /// <summary>date, number of the form.</summary>
    MomentText = 219,
    ToJson = 220,
    ParseJson = 221,

    /// <summary>object, sources: the object with the members of the sources.</summary>
    Assign = 222,
    FromEntries = 223,
    HasOwn = 224,
    CharacterCodeAt = 225,
    CodePointAt = 226,
    FromCharacterCode = 227,
    At = 228,
    Fill = 229,
    ArrayFrom = 230,
    ArrayOf = 231,
    RaiseToPower = 232,
    SquareRootOf = 233,
    IsSafeInteger = 234,
    IsNotNumber = 235,
    IsFiniteNumber = 236,

    /// <summary>id, document, optional change vector: the id. Patches only, as the next one.</summary>
    Put = 240,

    /// <summary>id, optional change vector: whether the document existed.</summary>
    DeleteDocument = 241,

    /// <summary>document or id, name, optional number. Patches only, as the next two.</summary>
    IncrementCounter = 242,

    /// <summary>document or id, name.</summary>
    DeleteCounter = 243,

    /// <summary>document or id, name: the value or null.</summary>
    ReadCounter = 244,

    /// <summary>document or id, name: the value of a counter; null if it does not exist.</summary>
    Counter = 245,

    /// <summary>document or id, name: an object with the values of a counter; null if it does not exist.</summary>
    CounterValues = 246,

    /// <summary>id or array of ids: adds documents to the answer of the query.</summary>
    IncludeDocuments = 247,

    /// <summary>key or array of keys: adds compare-exchange values to the answer of the query.</summary>
    IncludeCompareExchange = 248,
}
