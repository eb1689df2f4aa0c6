namespace Rookery.Documents.Scripting;

/// <summary>The functions that scripts may call. Numbers are part of the journal's format: patches travel compiled. Where a receiver is named, it is the first argument.</summary>
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

    /// <summary>Of an array: its first value.</summary>
    First = 85,

    /// <summary>Of an array: its last value.</summary>
    Last = 86,

    /// <summary>Of an array or text: its length, and 0 of nothing.</summary>
    Count = 87,

    /// <summary>Of a number or its text: a number without fraction.</summary>
    ToInteger = 88,

    /// <summary>Of a number or its text: the number; null of nothing. This and what follows is C#'s, where nothing is nothing in arithmetic and false in comparisons.</summary>
    ToNumberOrNull = 89,

    /// <summary>A value and a name: the member of an object; of others what C# calls so, such as the length of a text or the year of a date.</summary>
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
}
