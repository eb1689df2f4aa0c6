namespace Rookery.Scripting.Compiling;

/// <summary>Names of functions for error messages, as the authors of scripts write them.</summary>
internal static class FunctionNames
{
    /// <summary>
    /// Returns a name of the function in the language of the script. If it has several JavaScript names, returns the
    /// first in the catalogue.
    /// </summary>
    public static string Of(ScriptFunction function) =>
        // The functions of JavaScript are before and after those of C#.
        function is < ScriptFunction.Sum or > ScriptFunction.FitLong
            ? FunctionCatalogue.NameOf(function)
            : OfCSharp(function);

    private static string OfCSharp(ScriptFunction function) =>
        function switch
        {
            ScriptFunction.Least => "Min",
            ScriptFunction.Greatest => "Max",
            ScriptFunction.ParseLong => "long.Parse",
            ScriptFunction.ParseInt => "int.Parse",
            ScriptFunction.ParseDouble => "double.Parse",
            ScriptFunction.ParseDecimal => "decimal.Parse",
            ScriptFunction.ParseBoolean => "bool.Parse",
            ScriptFunction.ConvertToLong => "Convert.ToInt64",
            ScriptFunction.ConvertToInt => "Convert.ToInt32",
            ScriptFunction.ConvertToDouble => "Convert.ToDouble",
            ScriptFunction.ConvertToDecimal => "Convert.ToDecimal",
            ScriptFunction.ConvertToBoolean => "Convert.ToBoolean",
            ScriptFunction.CSharpRound => "Math.Round",
            ScriptFunction.CSharpFloor => "Math.Floor",
            ScriptFunction.CSharpCeiling => "Math.Ceiling",
            ScriptFunction.CSharpTruncate => "Math.Truncate",
            ScriptFunction.CSharpAbsolute => "Math.Abs",
            ScriptFunction.CSharpSign => "Math.Sign",
            ScriptFunction.CSharpMinimum => "Math.Min",
            ScriptFunction.CSharpMaximum => "Math.Max",
            ScriptFunction.Power => "Math.Pow",
            ScriptFunction.SquareRoot => "Math.Sqrt",
            ScriptFunction.CSharpToLower => "ToLower",
            ScriptFunction.CSharpToUpper => "ToUpper",
            ScriptFunction.CSharpTrim => "Trim",
            ScriptFunction.CSharpTrimStart => "TrimStart",
            ScriptFunction.CSharpTrimEnd => "TrimEnd",
            ScriptFunction.CSharpSubstring => "Substring",
            ScriptFunction.CSharpIncludes => "Contains",
            ScriptFunction.CSharpStartsWith => "StartsWith",
            ScriptFunction.CSharpEndsWith => "EndsWith",
            ScriptFunction.CSharpIndexOf => "IndexOf",
            ScriptFunction.CSharpLastIndexOf => "LastIndexOf",
            ScriptFunction.CSharpReplace => "Replace",
            ScriptFunction.CSharpSplit => "Split",
            ScriptFunction.CSharpPadLeft => "PadLeft",
            ScriptFunction.CSharpPadRight => "PadRight",
            ScriptFunction.CSharpInsert => "Insert",
            ScriptFunction.CSharpRemove => "Remove",
            ScriptFunction.IsNullOrEmpty => "string.IsNullOrEmpty",
            ScriptFunction.IsNullOrWhiteSpace => "string.IsNullOrWhiteSpace",
            ScriptFunction.JoinWith => "string.Join",
            ScriptFunction.JoinAll => "string.Concat",
            ScriptFunction.FormatText => "string.Format",
            ScriptFunction.CompareOrdinal => "string.CompareOrdinal",
            ScriptFunction.IsSameText => "Equals",
            ScriptFunction.FitInt => "an element of type int",
            ScriptFunction.FitLong => "an element of type long",
            _ => function.ToString(),
        };
}
