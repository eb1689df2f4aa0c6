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
        ["startsWith"] = new(ScriptFunction.StartsWith, 1, 1),
        ["endsWith"] = new(ScriptFunction.EndsWith, 1, 1),
        ["includes"] = new(ScriptFunction.Includes, 1, 1),
        ["indexOf"] = new(ScriptFunction.IndexOf, 1, 1),
        ["lastIndexOf"] = new(ScriptFunction.LastIndexOf, 1, 1),
        ["replace"] = new(ScriptFunction.Replace, 2, 2),
        ["replaceAll"] = new(ScriptFunction.ReplaceAll, 2, 2),
        ["split"] = new(ScriptFunction.Split, 1, 1),
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
        ["getMetadata"] = new(ScriptFunction.Metadata, 1, 1),
        ["metadataFor"] = new(ScriptFunction.Metadata, 1, 1),
    };

    /// <summary>Returns whether a name is an object that has only functions, such as <c>Math</c>.</summary>
    public static bool HasOnlyFunctions(string name) => name is "Math" or "Number" or "String" or "Array" or "Object";

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

    /// <summary>A function with its minimum and maximum number of arguments, without the receiver.</summary>
    internal readonly record struct Entry(ScriptFunction Function, int Least, int Most);
}
