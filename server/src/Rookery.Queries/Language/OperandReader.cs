using System.Globalization;

namespace Rookery.Queries.Language;

/// <summary>Parses values.</summary>
internal static class OperandReader
{
    /// <summary>Parses a text, a number, a parameter, <c>true</c>, <c>false</c> or <c>null</c>.</summary>
    /// <exception cref="QueryException">The next token is something else.</exception>
    public static Operand Read(RqlReader reader)
    {
        if (TryRead(reader) is { } operand)
        {
            return operand;
        }

        var wrong = reader.Current;
        var unexpected = reader.Unexpected("a value");
        if (wrong.Kind != RqlTokenKind.Word)
        {
            throw unexpected;
        }

        reader.Take();
        if (reader.Current.IsSymbol("(") || reader.Current.IsSymbol("."))
        {
            UnsupportedParts.RefuseFunction(wrong.Text, wrong.Position);
        }

        throw new QueryException(
            QueryFault.Invalid,
            $"'{wrong.Text}' stands where a value must stand; a text needs quotes, and a field is compared "
                + $"with values only.",
            wrong.Position
        );
    }

    /// <summary>Parses a value to which a field is compared: as <see cref="Read"/>, or <c>cmpxchg(key)</c>.</summary>
    /// <exception cref="QueryException">The next token is something else.</exception>
    public static Operand ReadCompared(RqlReader reader)
    {
        var function = reader.Current;
        if (!function.IsKeyword("cmpxchg"))
        {
            return Read(reader);
        }

        reader.Take();
        reader.ExpectSymbol("(");
        var key = Read(reader);
        if (key is not (TextOperand or ParameterOperand))
        {
            throw new QueryException(
                QueryFault.Invalid,
                "'cmpxchg()' takes the key of a compare-exchange value: a text or a parameter.",
                key.Position
            );
        }

        reader.ExpectSymbol(")");
        return reader.Current.IsSymbol(".")
            ? throw UnsupportedParts.Refusal("cmpxchg()", function.Position)
            : new CompareExchangeOperand(key, function.Position);
    }

    /// <summary>Parses a value if one is next; otherwise returns null.</summary>
    public static Operand? TryRead(RqlReader reader)
    {
        var token = reader.Current;
        Operand? operand = token.Kind switch
        {
            RqlTokenKind.Text => new TextOperand(token.Text, token.Position),
            RqlTokenKind.Number => new NumberOperand(token.Text, token.Position),
            RqlTokenKind.Parameter => new ParameterOperand(token.Text, token.Position),
            RqlTokenKind.Word when token.IsKeyword("true") || token.IsKeyword("false") => new BooleanOperand(
                token.IsKeyword("true"),
                token.Position
            ),
            RqlTokenKind.Word when token.IsKeyword("null") => new NullOperand(token.Position),
            _ => null,
        };
        if (operand is not null)
        {
            reader.Take();
        }

        return operand;
    }

    /// <summary>Parses a number or a parameter.</summary>
    /// <exception cref="QueryException">The next token is something else.</exception>
    public static Operand ReadNumber(RqlReader reader) =>
        reader.Current.Kind is RqlTokenKind.Number or RqlTokenKind.Parameter
            ? Read(reader)
            : throw reader.Unexpected("a number");

    /// <summary>Parses a number of results: a whole number from 0, a parameter, or <c>null</c>.</summary>
    /// <exception cref="QueryException">The next token is something else.</exception>
    public static Operand ReadCount(RqlReader reader)
    {
        var token = reader.Current;
        bool isCount =
            token.Kind == RqlTokenKind.Parameter
            || token.IsKeyword("null")
            || (
                token.Kind == RqlTokenKind.Number
                && long.TryParse(token.Text, NumberStyles.None, CultureInfo.InvariantCulture, out _)
            );
        return isCount ? Read(reader) : throw reader.Unexpected("a whole number from 0");
    }
}
