using Rookery.Scripting.Compiling;

namespace Rookery.Scripting.Functions;

/// <summary>The class that implements a built-in function.</summary>
internal enum FunctionFamily : byte
{
    /// <summary>No function has this number.</summary>
    None,

    /// <summary>Methods of <see cref="TextFunctions"/>, some of which arrays have, too.</summary>
    Text,

    /// <summary>Methods of <see cref="ArrayFunctions"/>.</summary>
    Array,

    /// <summary>Functions of <see cref="NumberFunctions"/>.</summary>
    Number,

    /// <summary>Functions of <see cref="ObjectFunctions"/>.</summary>
    Members,

    /// <summary>Functions that <see cref="BuiltIns"/> handles one by one.</summary>
    Single,

    /// <summary>Aggregates of C#.</summary>
    Aggregate,

    /// <summary>The length of a C# sequence or string.</summary>
    Length,

    /// <summary>Operators of C#, and its properties.</summary>
    Operator,

    /// <summary>Casts and conversions of C#.</summary>
    Conversion,

    /// <summary>Functions of <c>Math</c> in C#.</summary>
    Math,

    /// <summary>String methods of C#.</summary>
    CSharpText,

    /// <summary>Dates and time spans of C#.</summary>
    Date,

    /// <summary>Sequence methods of C#.</summary>
    Sequence,

    /// <summary>Functions of <see cref="PatternFunctions"/>.</summary>
    Pattern,

    /// <summary>Functions of <see cref="MomentFunctions"/>.</summary>
    Moment,

    /// <summary>Functions of <see cref="LaterFunctions"/>.</summary>
    Later,

    /// <summary>Functions of <see cref="StoreFunctions"/>.</summary>
    Store,
}

/// <summary>Maps functions to their families.</summary>
internal static class FunctionFamilies
{
    private static readonly FunctionFamily[] ByFunction =
    [
        .. Enumerable.Range(0, byte.MaxValue + 1).Select(static number => Find((ScriptFunction)number)),
    ];

    /// <summary>Returns the family of a function.</summary>
    public static FunctionFamily Of(ScriptFunction function) => ByFunction[(byte)function];

    private static FunctionFamily Find(ScriptFunction function) =>
        function switch
        {
            >= ScriptFunction.ToLowerCase and <= ScriptFunction.PadEnd => FunctionFamily.Text,
            ScriptFunction.ToText
            or ScriptFunction.ToFixed
            or ScriptFunction.Id
            or ScriptFunction.Load
            or ScriptFunction.Metadata
            or (>= ScriptFunction.Counter and <= ScriptFunction.IncludeCompareExchange) => FunctionFamily.Single,
            >= ScriptFunction.Join and <= ScriptFunction.Sort => FunctionFamily.Array,
            >= ScriptFunction.Round and <= ScriptFunction.Maximum => FunctionFamily.Number,
            >= ScriptFunction.ToNumber and <= ScriptFunction.IsArray => FunctionFamily.Number,
            >= ScriptFunction.Keys and <= ScriptFunction.Entries => FunctionFamily.Members,
            >= ScriptFunction.Sum and <= ScriptFunction.Distinct => FunctionFamily.Aggregate,
            ScriptFunction.Count => FunctionFamily.Length,
            >= ScriptFunction.Property and <= ScriptFunction.IsGreaterOrEqual => FunctionFamily.Operator,
            (>= ScriptFunction.Negated and <= ScriptFunction.CastToText)
            or ScriptFunction.FitInt
            or ScriptFunction.FitLong => FunctionFamily.Conversion,
            >= ScriptFunction.CSharpRound and <= ScriptFunction.SquareRoot => FunctionFamily.Math,
            >= ScriptFunction.CSharpToLower and <= ScriptFunction.AreEqualObjects => FunctionFamily.CSharpText,
            >= ScriptFunction.NewDate and <= ScriptFunction.CompareTo => FunctionFamily.Date,
            >= ScriptFunction.ToSequence and <= ScriptFunction.SortedByKeys => FunctionFamily.Sequence,
            >= ScriptFunction.NewPattern and <= ScriptFunction.ReplaceMatches => FunctionFamily.Pattern,
            >= ScriptFunction.NewMoment and <= ScriptFunction.MomentText => FunctionFamily.Moment,
            >= ScriptFunction.ToJson and <= ScriptFunction.IsFiniteNumber => FunctionFamily.Later,
            >= ScriptFunction.Put and <= ScriptFunction.ReadCounter => FunctionFamily.Store,
            _ => FunctionFamily.None,
        };
}
