using Rookery.Documents.Scripting;

namespace Rookery.Indexing.Definitions;

/// <summary>What the methods and properties of values in C# are in scripts.</summary>
internal static class LinqMethods
{
    /// <summary>Properties that texts, sequences, dates and documents have by themselves; objects may have members of these names.</summary>
    private static readonly HashSet<string> Properties = new(StringComparer.Ordinal)
    {
        "Length", "Count", "Id", "Value", "HasValue", "Year", "Month", "Day", "Hour", "Minute", "Second",
    };

    /// <summary>Methods of texts and sequences that are one function: how many arguments they take.</summary>
    private static readonly Dictionary<string, (ScriptFunction Function, int Least, int Most)> Functions = new(StringComparer.Ordinal)
    {
        ["ToLower"] = (ScriptFunction.ToLowerCase, 0, 0),
        ["ToLowerInvariant"] = (ScriptFunction.ToLowerCase, 0, 0),
        ["ToUpper"] = (ScriptFunction.ToUpperCase, 0, 0),
        ["ToUpperInvariant"] = (ScriptFunction.ToUpperCase, 0, 0),
        ["Trim"] = (ScriptFunction.Trim, 0, 0),
        ["TrimStart"] = (ScriptFunction.TrimStart, 0, 0),
        ["TrimEnd"] = (ScriptFunction.TrimEnd, 0, 0),
        ["Substring"] = (ScriptFunction.Substr, 1, 2),
        ["Contains"] = (ScriptFunction.Includes, 1, 1),
        ["StartsWith"] = (ScriptFunction.StartsWith, 1, 1),
        ["EndsWith"] = (ScriptFunction.EndsWith, 1, 1),
        ["IndexOf"] = (ScriptFunction.IndexOf, 1, 1),
        ["LastIndexOf"] = (ScriptFunction.LastIndexOf, 1, 1),
        ["Replace"] = (ScriptFunction.ReplaceAll, 2, 2),
        ["PadLeft"] = (ScriptFunction.PadStart, 1, 2),
        ["PadRight"] = (ScriptFunction.PadEnd, 1, 2),
        ["ToString"] = (ScriptFunction.ToText, 0, 0),
        ["Equals"] = (ScriptFunction.IsSame, 1, 1),
        ["Concat"] = (ScriptFunction.Concat, 1, 1),
        ["Distinct"] = (ScriptFunction.Distinct, 0, 0),
        ["Skip"] = (ScriptFunction.Slice, 1, 1),
    };

    /// <summary>Methods of sequences whose function yields what is added up, and what adds up.</summary>
    private static readonly Dictionary<string, ScriptFunction> Aggregates = new(StringComparer.Ordinal)
    {
        ["Sum"] = ScriptFunction.Sum,
        ["Min"] = ScriptFunction.Least,
        ["Max"] = ScriptFunction.Greatest,
        ["Average"] = ScriptFunction.Average,
    };

    /// <summary>Methods of sequences whose function is a condition, and what is done with the values of which it is true.</summary>
    private static readonly Dictionary<string, ScriptFunction> Picks = new(StringComparer.Ordinal)
    {
        ["Count"] = ScriptFunction.Count,
        ["LongCount"] = ScriptFunction.Count,
        ["First"] = ScriptFunction.First,
        ["FirstOrDefault"] = ScriptFunction.First,
        ["Single"] = ScriptFunction.First,
        ["SingleOrDefault"] = ScriptFunction.First,
        ["Last"] = ScriptFunction.Last,
        ["LastOrDefault"] = ScriptFunction.Last,
    };

    /// <summary>Methods that take a function and are ones of arrays in JavaScript.</summary>
    private static readonly Dictionary<string, string> Loops = new(StringComparer.Ordinal)
    {
        ["Select"] = "map",
        ["Where"] = "filter",
        ["SelectMany"] = "flatMap",
        ["Any"] = "some",
        ["All"] = "every",
    };

    /// <summary>Whether a method is one of sequences.</summary>
    public static bool IsOfSequences(string name) => Aggregates.ContainsKey(name) || Picks.ContainsKey(name) || Loops.ContainsKey(name) || name
        is "Aggregate" or "Distinct" or "Skip" or "Take" or "Contains" or "Concat" or "Reverse" or "ElementAt" or "ElementAtOrDefault"
        or "ToList" or "ToArray" or "ToHashSet" or "AsEnumerable" or "Cast" or "OfType";

    /// <summary>A member of a value.</summary>
    public static Expression ToMember(Expression target, Token name) => Properties.Contains(name.Text)
        ? new InvokeExpression(ScriptFunction.Property, [target, new TextLiteral(name.Text, name.Position)], name.Position)
        : new MemberExpression(target, name.Text, name.Position);

    /// <summary>A call of a method.</summary>
    /// <exception cref="ScriptException">There is none that is understood.</exception>
    public static Expression ToCall(Expression target, Token name, List<Expression> arguments)
    {
        int at = name.Position;
        if (arguments is [LambdaExpression callback])
        {
            return ToLoop(target, name, callback);
        }

        if (arguments.FirstOrDefault(static argument => argument is LambdaExpression) is { } function)
        {
            return name.Text is "Aggregate" && arguments is [var seed, LambdaExpression fold]
                ? new CallExpression(new MemberExpression(target, "reduce", at), [fold, seed], at)
                : throw TokenCursor.NotSupported($"'{name.Text}' with these arguments", function.Position);
        }

        if (Functions.TryGetValue(name.Text, out var known) && arguments.Count >= known.Least && arguments.Count <= known.Most)
        {
            return new InvokeExpression(known.Function, [target, .. arguments], at);
        }

        return (name.Text, arguments.Count) switch
        {
            ("ToList" or "ToArray" or "AsEnumerable" or "Cast" or "OfType" or "ToHashSet", 0) => target,
            ("Any", 0) => new InvokeExpression(ScriptFunction.IsGreater, [new InvokeExpression(ScriptFunction.Count, [target], at), new NumberLiteral(0, at)], at),
            ("Take", 1) => new InvokeExpression(ScriptFunction.Slice, [target, new NumberLiteral(0, at), arguments[0]], at),
            ("Reverse", 0) => new InvokeExpression(ScriptFunction.Reverse, [new InvokeExpression(ScriptFunction.Slice, [target], at)], at),
            ("ElementAt" or "ElementAtOrDefault", 1) => new ElementExpression(target, arguments[0], at),
            ("Split", 1) => new InvokeExpression(ScriptFunction.Split, [target, ToSeparator(arguments[0])], at),
            (_, 0) when Aggregates.TryGetValue(name.Text, out var aggregate) => new InvokeExpression(aggregate, [target], at),
            (_, 0) when Picks.TryGetValue(name.Text, out var pick) => new InvokeExpression(pick, [target], at),
            _ => throw NotSupported(name, arguments.Count),
        };
    }

    private static Expression ToLoop(Expression target, Token name, LambdaExpression callback)
    {
        int at = name.Position;
        if (Loops.TryGetValue(name.Text, out string? loop))
        {
            return new CallExpression(new MemberExpression(target, loop, at), [callback], at);
        }

        if (Aggregates.TryGetValue(name.Text, out var aggregate))
        {
            return new InvokeExpression(aggregate, [new CallExpression(new MemberExpression(target, "map", at), [callback], at)], at);
        }

        return Picks.TryGetValue(name.Text, out var pick)
            ? new InvokeExpression(pick, [new CallExpression(new MemberExpression(target, "filter", at), [callback], at)], at)
            : throw NotSupported(name, 1);
    }

    /// <summary>The text between the parts; C# also takes an array of one.</summary>
    private static Expression ToSeparator(Expression argument) => argument switch
    {
        ArrayLiteral { Elements: [var only] } => only,
        ArrayLiteral several => throw TokenCursor.NotSupported("'Split' at several texts", several.Position),
        _ => argument,
    };

    private static ScriptException NotSupported(Token name, int arguments) =>
        TokenCursor.NotSupported($"the method '{name.Text}' with {(arguments == 1 ? "one argument" : $"{arguments} arguments")}", name.Position);
}
