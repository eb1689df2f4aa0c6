using Rookery.Documents.Scripting;

namespace Rookery.Indexing.Definitions;

/// <summary>What functions that belong to no value are in scripts: those of types, and those of RavenDB's indexes.</summary>
internal static class LinqStatics
{
    private static readonly Dictionary<string, (ScriptFunction Function, int Count)> Functions = new(StringComparer.Ordinal)
    {
        ["Math.Abs"] = (ScriptFunction.Absolute, 1),
        ["Math.Floor"] = (ScriptFunction.Floor, 1),
        ["Math.Ceiling"] = (ScriptFunction.Ceiling, 1),
        ["Math.Truncate"] = (ScriptFunction.Truncate, 1),
        ["Math.Round"] = (ScriptFunction.Round, 1),
        ["Math.Sign"] = (ScriptFunction.Sign, 1),
        ["Math.Min"] = (ScriptFunction.Minimum, 2),
        ["Math.Max"] = (ScriptFunction.Maximum, 2),
        ["int.Parse"] = (ScriptFunction.ToInteger, 1),
        ["long.Parse"] = (ScriptFunction.ToInteger, 1),
        ["Convert.ToInt32"] = (ScriptFunction.ToInteger, 1),
        ["Convert.ToInt64"] = (ScriptFunction.ToInteger, 1),
        ["double.Parse"] = (ScriptFunction.ToNumberOrNull, 1),
        ["decimal.Parse"] = (ScriptFunction.ToNumberOrNull, 1),
        ["Convert.ToDouble"] = (ScriptFunction.ToNumberOrNull, 1),
        ["Convert.ToDecimal"] = (ScriptFunction.ToNumberOrNull, 1),
        ["Convert.ToString"] = (ScriptFunction.ToText, 1),
        ["string.Equals"] = (ScriptFunction.IsSame, 2),
        ["object.Equals"] = (ScriptFunction.IsSame, 2),
        ["string.Concat"] = (ScriptFunction.Plus, 2),
    };

    /// <summary>Whether a name is a type whose functions may be called.</summary>
    public static bool IsCarrier(string name) => HasMethodsOfSequences(name) || name is "Math" or "string" or "String" or "int" or "long" or "double" or "decimal" or "object" or "Convert" or "DateTime" or "DateTimeOffset" or "Guid";

    /// <summary>Whether a name is a type whose functions are the methods of the sequence that is their first argument.</summary>
    public static bool HasMethodsOfSequences(string name) => name is "Enumerable" or "DynamicEnumerable" or "Queryable";

    /// <summary>A call of a type's function.</summary>
    /// <exception cref="ScriptException">There is none that is understood.</exception>
    public static Expression ToCall(string name, List<Expression> arguments, int position)
    {
        string plain = name.StartsWith("String.", StringComparison.Ordinal) ? "string" + name["String".Length..] : name;
        if (Functions.TryGetValue(plain, out var known) && known.Count == arguments.Count)
        {
            return new InvokeExpression(known.Function, arguments, position);
        }

        return (plain, arguments.Count) switch
        {
            ("string.IsNullOrEmpty", 1) => new UnaryExpression(Opcode.Not, arguments[0], position),
            ("string.IsNullOrWhiteSpace", 1) => new UnaryExpression(Opcode.Not, new InvokeExpression(ScriptFunction.Trim, arguments, position), position),
            ("string.Join", 2) => new InvokeExpression(ScriptFunction.Join, [arguments[1], arguments[0]], position),
            _ => throw TokenCursor.NotSupported($"'{name}' with {(arguments.Count == 1 ? "one argument" : $"{arguments.Count} arguments")}", position),
        };
    }

    /// <summary>A value of a type.</summary>
    /// <exception cref="ScriptException">There is none that is understood.</exception>
    public static Expression ToValue(string name, int position) => name is "string.Empty" or "String.Empty"
        ? new TextLiteral("", position)
        : throw TokenCursor.NotSupported($"'{name}'", position);

    /// <summary>A call of a function that indexes have.</summary>
    /// <exception cref="ScriptException">There is none that is understood.</exception>
    public static InvokeExpression ToFunction(Token name, List<Expression> arguments) => (name.Text, arguments.Count) switch
    {
        ("LoadDocument", 2) => new InvokeExpression(ScriptFunction.Load, arguments, name.Position),
        ("LoadDocument", _) => throw TokenCursor.NotSupported("'LoadDocument' without the name of a collection", name.Position),
        ("MetadataFor", 1) => new InvokeExpression(ScriptFunction.Metadata, arguments, name.Position),
        ("Id", 1) => new InvokeExpression(ScriptFunction.Id, arguments, name.Position),
        _ => throw TokenCursor.NotSupported($"the function '{name.Text}'", name.Position),
    };
}
