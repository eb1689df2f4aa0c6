using Rookery.Scripting.Functions;
using Rookery.Scripting.Values;

namespace Rookery.Scripting.Compiling;

/// <summary>
/// Maps names of JavaScript functions and methods to built-in functions, with their numbers of arguments.
/// </summary>
internal static class FunctionCatalogue
{
    // Maximum number of arguments here for a function that takes any number in JavaScript.
    private const int AnyCount = 16;

    /// <summary>Methods, called on a value: <c>a.trim()</c>.</summary>
    private static readonly Dictionary<string, Entry> Methods = new(StringComparer.Ordinal)
    {
        ["toLowerCase"] = new(ScriptFunction.ToLowerCase, 0, 0),
        ["toUpperCase"] = new(ScriptFunction.ToUpperCase, 0, 0),
        ["trim"] = new(ScriptFunction.Trim, 0, 0),
        ["trimStart"] = new(ScriptFunction.TrimStart, 0, 0),
        ["trimEnd"] = new(ScriptFunction.TrimEnd, 0, 0),
        ["substr"] = new(ScriptFunction.Substr, 1, 2),
        ["substring"] = new(ScriptFunction.Substring, 1, 2),
        ["slice"] = new(ScriptFunction.Slice, 0, 2),
        ["startsWith"] = new(ScriptFunction.StartsWith, 1, 2) { FirstMost = 1 },
        ["endsWith"] = new(ScriptFunction.EndsWith, 1, 1),
        ["includes"] = new(ScriptFunction.Includes, 1, 2) { FirstMost = 1 },
        ["indexOf"] = new(ScriptFunction.IndexOf, 1, 2) { FirstMost = 1 },
        ["lastIndexOf"] = new(ScriptFunction.LastIndexOf, 1, 1),
        ["replace"] = new(ScriptFunction.Replace, 2, 2),
        ["replaceAll"] = new(ScriptFunction.ReplaceAll, 2, 2),
        ["split"] = new(ScriptFunction.Split, 1, 2) { FirstMost = 1 },
        ["concat"] = new(ScriptFunction.Concat, 0, AnyCount),
        ["charAt"] = new(ScriptFunction.CharAt, 0, 1),
        ["repeat"] = new(ScriptFunction.Repeat, 1, 1),
        ["padStart"] = new(ScriptFunction.PadStart, 1, 2),
        ["padEnd"] = new(ScriptFunction.PadEnd, 1, 2),
        ["toString"] = new(ScriptFunction.ToText, 0, 0),
        ["toFixed"] = new(ScriptFunction.ToFixed, 0, 1),
        ["join"] = new(ScriptFunction.Join, 0, 1),
        ["push"] = new(ScriptFunction.Push, 0, AnyCount),
        ["pop"] = new(ScriptFunction.Pop, 0, 0),
        ["shift"] = new(ScriptFunction.Shift, 0, 0),
        ["unshift"] = new(ScriptFunction.Unshift, 0, AnyCount),
        ["splice"] = new(ScriptFunction.Splice, 1, AnyCount),
        ["reverse"] = new(ScriptFunction.Reverse, 0, 0),
        ["flat"] = new(ScriptFunction.Flat, 0, 0),
        ["sort"] = new(ScriptFunction.Sort, 0, 0),
        ["trimLeft"] = new(ScriptFunction.TrimStart, 0, 0),
        ["trimRight"] = new(ScriptFunction.TrimEnd, 0, 0),
        ["charCodeAt"] = new(ScriptFunction.CharacterCodeAt, 0, 1),
        ["codePointAt"] = new(ScriptFunction.CodePointAt, 0, 1),
        ["at"] = new(ScriptFunction.At, 1, 1),
        ["fill"] = new(ScriptFunction.Fill, 1, 3),
        ["hasOwnProperty"] = new(ScriptFunction.HasOwn, 1, 1),
        ["test"] = new(ScriptFunction.TestPattern, 1, 1),
        ["exec"] = new(ScriptFunction.RunPattern, 1, 1),
        ["match"] = new(ScriptFunction.MatchText, 1, 1),
        ["matchAll"] = new(ScriptFunction.MatchAll, 1, 1),
        ["search"] = new(ScriptFunction.SearchPattern, 1, 1),
        ["getTime"] = PartOfMoment(MomentFunctions.Time),
        ["valueOf"] = PartOfMoment(MomentFunctions.Time),
        ["getTimezoneOffset"] = PartOfMoment(MomentFunctions.Offset),
        ["setTime"] = new(ScriptFunction.SetMomentPart, 1, 1) { Variant = MomentFunctions.Time },
        ["toISOString"] = new(ScriptFunction.MomentIso, 0, 0) { Variant = 0 },
        ["toJSON"] = new(ScriptFunction.MomentIso, 0, 0) { Variant = 1 },
        ["toDateString"] = new(ScriptFunction.MomentText, 0, 0) { Variant = (int)MomentForm.Day },
        ["toTimeString"] = new(ScriptFunction.MomentText, 0, 0) { Variant = (int)MomentForm.Time },
        ["toUTCString"] = new(ScriptFunction.MomentText, 0, 0) { Variant = (int)MomentForm.Utc },
    };

    // The methods of dates by the names of their parts, with and without UTC: getMonth, getUTCMonth.
    private static readonly (string Name, int Part, int MaxValues)[] PartsOfMoments =
    [
        ("FullYear", MomentFunctions.Year, 3),
        ("Month", MomentFunctions.Month, 2),
        ("Date", MomentFunctions.Day, 1),
        ("Hours", MomentFunctions.Hours, 4),
        ("Minutes", MomentFunctions.Minutes, 3),
        ("Seconds", MomentFunctions.Seconds, 2),
        ("Milliseconds", MomentFunctions.Milliseconds, 1),
        ("Day", MomentFunctions.Weekday, 0),
    ];

    /// <summary>Numbers that are members of an object such as <c>Math</c>.</summary>
    private static readonly Dictionary<string, double> Constants = new(StringComparer.Ordinal)
    {
        ["Math.PI"] = Math.PI,
        ["Math.E"] = Math.E,
        ["Math.LN2"] = 0.6931471805599453,
        ["Math.LN10"] = 2.302585092994046,
        ["Math.LOG2E"] = 1.4426950408889634,
        ["Math.LOG10E"] = 0.4342944819032518,
        ["Math.SQRT2"] = 1.4142135623730951,
        ["Math.SQRT1_2"] = 0.7071067811865476,
        ["Number.MAX_SAFE_INTEGER"] = 9_007_199_254_740_991,
        ["Number.MIN_SAFE_INTEGER"] = -9_007_199_254_740_991,
        ["Number.MAX_VALUE"] = double.MaxValue,
        ["Number.MIN_VALUE"] = double.Epsilon,
        ["Number.EPSILON"] = 2.220446049250313e-16,
        ["Number.POSITIVE_INFINITY"] = double.PositiveInfinity,
        ["Number.NEGATIVE_INFINITY"] = double.NegativeInfinity,
        ["Number.NaN"] = double.NaN,
    };

    /// <summary>
    /// Functions called by name, alone or as a member of an object such as <c>Math</c>: <c>Math.round(a)</c>.
    /// </summary>
    private static readonly Dictionary<string, Entry> Functions = new(StringComparer.Ordinal)
    {
        ["Math.round"] = new(ScriptFunction.Round, 1, 1),
        ["Math.floor"] = new(ScriptFunction.Floor, 1, 1),
        ["Math.ceil"] = new(ScriptFunction.Ceiling, 1, 1),
        ["Math.abs"] = new(ScriptFunction.Absolute, 1, 1),
        ["Math.trunc"] = new(ScriptFunction.Truncate, 1, 1),
        ["Math.sign"] = new(ScriptFunction.Sign, 1, 1),
        ["Math.min"] = new(ScriptFunction.Minimum, 0, AnyCount),
        ["Math.max"] = new(ScriptFunction.Maximum, 0, AnyCount),
        ["Number"] = new(ScriptFunction.ToNumber, 1, 1),
        ["String"] = new(ScriptFunction.ToTextOf, 1, 1),
        ["Boolean"] = new(ScriptFunction.ToBoolean, 1, 1),
        ["parseInt"] = new(ScriptFunction.ParseInteger, 1, 2),
        ["parseFloat"] = new(ScriptFunction.ParseFloat, 1, 1),
        ["Number.parseInt"] = new(ScriptFunction.ParseInteger, 1, 2),
        ["Number.parseFloat"] = new(ScriptFunction.ParseFloat, 1, 1),
        ["isNaN"] = new(ScriptFunction.IsNaN, 1, 1),
        ["Number.isInteger"] = new(ScriptFunction.IsInteger, 1, 1),
        ["isFinite"] = new(ScriptFunction.IsFinite, 1, 1),
        ["Array.isArray"] = new(ScriptFunction.IsArray, 1, 1),
        ["Object.keys"] = new(ScriptFunction.Keys, 1, 1),
        ["Object.values"] = new(ScriptFunction.Values, 1, 1),
        ["Object.entries"] = new(ScriptFunction.Entries, 1, 1),
        ["id"] = new(ScriptFunction.Id, 1, 1),
        ["load"] = new(ScriptFunction.Load, 1, 2),
        ["put"] = new(ScriptFunction.Put, 2, 3),
        ["del"] = new(ScriptFunction.DeleteDocument, 1, 2),
        ["incrementCounter"] = new(ScriptFunction.IncrementCounter, 2, 3),
        ["deleteCounter"] = new(ScriptFunction.DeleteCounter, 2, 2),
        ["getMetadata"] = new(ScriptFunction.Metadata, 1, 1),
        ["metadataFor"] = new(ScriptFunction.Metadata, 1, 1),
        ["RegExp"] = new(ScriptFunction.NewPattern, 1, 2),
        ["Date.now"] = new(ScriptFunction.Now, 0, 0),
        ["Date.UTC"] = new(ScriptFunction.MomentOfParts, 1, 7),
        ["Date.parse"] = new(ScriptFunction.ParseMoment, 1, 1),
        ["JSON.stringify"] = new(ScriptFunction.ToJson, 1, 1),
        ["JSON.parse"] = new(ScriptFunction.ParseJson, 1, 1),
        ["Object.assign"] = new(ScriptFunction.Assign, 1, AnyCount),
        ["Object.fromEntries"] = new(ScriptFunction.FromEntries, 1, 1),
        ["Object.hasOwn"] = new(ScriptFunction.HasOwn, 2, 2),
        ["String.fromCharCode"] = new(ScriptFunction.FromCharacterCode, 0, AnyCount),
        ["Array.from"] = new(ScriptFunction.ArrayFrom, 1, 1),
        ["Array.of"] = new(ScriptFunction.ArrayOf, 0, AnyCount),
        ["Math.pow"] = new(ScriptFunction.RaiseToPower, 2, 2),
        ["Math.sqrt"] = new(ScriptFunction.SquareRootOf, 1, 1),
        ["Number.isSafeInteger"] = new(ScriptFunction.IsSafeInteger, 1, 1),
        ["Number.isNaN"] = new(ScriptFunction.IsNotNumber, 1, 1),
        ["Number.isFinite"] = new(ScriptFunction.IsFiniteNumber, 1, 1),
        ["counter"] = new(ScriptFunction.Counter, 2, 2),
        ["counterRaw"] = new(ScriptFunction.CounterValues, 2, 2),
        ["includes.document"] = new(ScriptFunction.IncludeDocuments, 1, 1),
        ["includes.cmpxchg"] = new(ScriptFunction.IncludeCompareExchange, 1, 1),
    };

    static FunctionCatalogue()
    {
        foreach (var (name, part, maxValues) in PartsOfMoments)
        {
            foreach (string zone in new[] { "", "UTC" })
            {
                Methods.Add($"get{zone}{name}", PartOfMoment(part));
                if (maxValues > 0)
                {
                    Methods.Add(
                        $"set{zone}{name}",
                        new Entry(ScriptFunction.SetMomentPart, 1, maxValues) { Variant = part }
                    );
                }
            }
        }
    }

    /// <summary>Returns whether a name is an object of functions and constants, such as <c>Math</c>.</summary>
    public static bool HasOnlyFunctions(string name) =>
        name
            is "Math"
                or "Number"
                or "String"
                or "Array"
                or "Object"
                or "Date"
                or "JSON"
                or "RegExp"
                or "includes"
                or "noTracking";

    /// <summary>Finds a number by its full name, such as <c>Math.PI</c>.</summary>
    public static bool TryFindConstant(string name, out double value) => Constants.TryGetValue(name, out value);

    /// <summary>Finds a method.</summary>
    public static bool TryFindMethod(string name, out Entry entry) => Methods.TryGetValue(name, out entry);

    /// <summary>Finds a function by its full name.</summary>
    public static bool TryFindFunction(string name, out Entry entry) => Functions.TryGetValue(name, out entry);

    /// <summary>
    /// Returns the name under which the catalogue lists a function; the first one if it has several.
    /// </summary>
    public static string NameOf(ScriptFunction function) =>
        Methods
            .Concat(Functions)
            .Where(known => known.Value.Function == function)
            .Select(static known => known.Key)
            .DefaultIfEmpty(function.ToString())
            .First();

    private static Entry PartOfMoment(int part) => new(ScriptFunction.MomentPart, 0, 0) { Variant = part };

    /// <summary>A function with its minimum and maximum number of arguments, without the receiver.</summary>
    internal readonly record struct Entry(ScriptFunction Function, int Least, int Most)
    {
        /// <summary>The maximum number of arguments in programs of the first version.</summary>
        public int FirstMost { get; init; } = Most;

        /// <summary>
        /// A number that tells methods with the same function apart, passed after the receiver; -1 for none.
        /// </summary>
        public int Variant { get; init; } = -1;
    }
}
