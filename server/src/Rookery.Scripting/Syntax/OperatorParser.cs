namespace Rookery.Scripting.Syntax;

/// <summary>
/// Parses operators between two operands by precedence climbing, for JavaScript as for C#. A language says what its
/// operands are and what an operator makes of two of them.
/// </summary>
/// <param name="cursor">The tokens.</param>
/// <param name="ownOperators">The operators that only this language has, by how tightly they bind.</param>
/// <param name="parseOperand">Parses what stands between operators.</param>
/// <param name="parseRest">Parses an operator and what stands behind it.</param>
internal sealed class OperatorParser(
    TokenCursor cursor,
    IReadOnlyDictionary<string, int> ownOperators,
    Func<Expression> parseOperand,
    OperatorParser.ParseRest parseRest
)
{
    private static readonly Dictionary<string, int> SharedOperators = new(StringComparer.Ordinal)
    {
        ["??"] = 1,
        ["||"] = 2,
        ["&&"] = 3,
        ["|"] = 4,
        ["^"] = 5,
        ["&"] = 6,
        ["=="] = Equality,
        ["!="] = Equality,
        ["<"] = Relation,
        ["<="] = Relation,
        [">"] = Relation,
        [">="] = Relation,
        ["<<"] = 9,
        [">>"] = 9,
        [">>>"] = 9,
        ["+"] = 10,
        ["-"] = 10,
        ["*"] = 11,
        ["/"] = 11,
        ["%"] = 11,
    };

    /// <summary>How tightly comparisons for equality bind.</summary>
    public const int Equality = 7;

    /// <summary>How tightly relations bind.</summary>
    public const int Relation = 8;

    /// <summary>How tightly those bind that bind most.</summary>
    public const int Tightest = 12;

    /// <summary>Parses an operator and what stands behind it, up to operators that bind no tighter.</summary>
    /// <param name="left">What stands before it.</param>
    /// <param name="mark">The operator, which is not yet taken.</param>
    /// <param name="precedence">How tightly it binds: for <see cref="Parse"/> of the right operand.</param>
    public delegate Expression ParseRest(Expression left, Token mark, int precedence);

    /// <summary>Whether a mark or word is an operator between two operands.</summary>
    public bool IsOperator(string text) => SharedOperators.ContainsKey(text) || ownOperators.ContainsKey(text);

    /// <summary>Parses operands and the operators between them that bind tighter than given.</summary>
    /// <param name="least">How tightly operators bind that end the expression; 0 for none.</param>
    public Expression Parse(int least = 0)
    {
        cursor.Enter();
        var left = parseOperand();
        while (PrecedenceOf(cursor.Current) is var precedence && precedence > least)
        {
            left = parseRest(left, cursor.Current, precedence);
        }

        cursor.Leave();
        return left;
    }

    private int PrecedenceOf(Token token) =>
        token.Kind is not (TokenKind.Mark or TokenKind.Name) ? 0
        : SharedOperators.TryGetValue(token.Text, out int shared) ? shared
        : ownOperators.GetValueOrDefault(token.Text);
}
