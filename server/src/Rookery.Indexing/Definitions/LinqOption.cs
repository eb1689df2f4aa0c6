using Rookery.Scripting.Syntax;

namespace Rookery.Indexing.Definitions;

/// <summary>
/// A value of a type that only says how something is done, such as <c>StringComparison.Ordinal</c>. It is no value of a
/// script: the function that it is given to takes it.
/// </summary>
/// <param name="Type">The type.</param>
/// <param name="Name">Which one.</param>
/// <param name="Position">Characters of the text before it.</param>
internal sealed record LinqOption(string Type, string Name, int Position) : Expression(Position)
{
    /// <summary>Whether a type is one of those.</summary>
    public static bool IsType(string name) =>
        name is "StringComparison" or "StringSplitOptions" or "MidpointRounding" or "DateTimeKind" or "CultureInfo";

    /// <summary>The option of this name.</summary>
    /// <exception cref="ScriptException">It is not supported.</exception>
    public static LinqOption Of(string type, string name, int position) =>
        (type, name) switch
        {

            ("StringComparison", "Ordinal" or "OrdinalIgnoreCase")
            or
            ("StringSplitOptions", "None" or "RemoveEmptyEntries" or "TrimEntries")
            or
            ("DateTimeKind", "Utc" or "Unspecified")
            or
            ("CultureInfo", "InvariantCulture")
            or (
                "MidpointRounding",
                "ToEven"
                    or "AwayFromZero"
                    or "ToZero"
                    or "ToNegativeInfinity"
                    or "ToPositiveInfinity"
            ) => new LinqOption(type, name, position),
            _ => throw TokenCursor.NotSupported($"'{type}.{name}'", position),
        };

    /// <summary>Takes the option of a type out of arguments; null where there is none.</summary>
    public static LinqOption? Take(List<Expression> arguments, string type)
    {
        int at = arguments.FindIndex(argument =>
            argument is LinqOption option && string.Equals(option.Type, type, StringComparison.Ordinal)
        );
        if (at < 0)
        {
            return null;
        }

        var taken = (LinqOption)arguments[at];
        arguments.RemoveAt(at);
        return taken;
    }

    /// <summary>As a function is given it.</summary>
    public TextLiteral ToText() => new(Type is "StringComparison" ? "\0" + Name : Name, Position);
}
