using Rookery.Scripting.Syntax;

namespace Rookery.Indexing.Definitions;

/// <summary>
/// An argument that selects how a method works, such as <c>StringComparison.Ordinal</c>. The translation of the method
/// consumes it, so it is not a value of the script.
/// </summary>
/// <param name="Type">The name of the type.</param>
/// <param name="Name">The name of the value.</param>
/// <param name="Position">The offset in the text, in characters.</param>
internal sealed record LinqOption(string Type, string Name, int Position) : Expression(Position)
{
    /// <summary>Returns whether a type is an option type.</summary>
    public static bool IsType(string name) =>
        name is "StringComparison" or "StringSplitOptions" or "MidpointRounding" or "DateTimeKind" or "CultureInfo";

    /// <summary>Returns the option of a type and name.</summary>
    /// <exception cref="ScriptException">The option is not supported.</exception>
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

    /// <summary>Removes the option of a type from the arguments and returns it; null when there is none.</summary>
    public static LinqOption? Take(List<Expression> arguments, string type)
    {
        int at = arguments.FindIndex(argument =>
            argument is LinqOption option && string.Equals(option.Type, type, StringComparison.Ordinal)
        );
        if (at < 0)
        {
            return null;
        }

        var removed = (LinqOption)arguments[at];
        arguments.RemoveAt(at);
        return removed;
    }

    /// <summary>Returns the option as a text argument. A leading NUL marks a <c>StringComparison</c>.</summary>
    public TextLiteral ToText() => new(Type is "StringComparison" ? "\0" + Name : Name, Position);
}
