namespace Rookery.Scripting.Syntax;

/// <summary>
/// Parses binary operators of JavaScript or C# by precedence climbing. The parsers of operands and operations are
/// parameters, because they differ between the languages.
/// </summary>
/// <param name="cursor">The tokens.</param>
/// <param name="ownOperators">The operators of this language only, with their precedence.</param>
/// <param name="parseOperand">Parses an operand.</param>
/// <param name="parseOperation">Parses an operator with its right operand, given the left one.</param>
internal sealed class OperatorParser(
    TokenCursor cursor,
    IReadOnlyDictionary<string, int> ownOperators,
    Func<Expression> parseOperand,
    OperatorParser.ParseOperation parseOperation
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

    /// <summary>The precedence of equality operators.</summary>
    public const int Equality = 7;

    /// <summary>The precedence of relational operators.</summary>
    public const int Relation = 8;

    /// <summary>The highest precedence.</summary>
    public const int Tightest = 12;

    /// <summary>
    /// Parses an operator and its right operand, up to the next operator that does not bind more tightly.
    /// </summary>
    /// <param name="left">The left operand.</param>
    /// <param name="operatorToken">The operator, which is still the current token.</param>
    /// <param name="precedence">
    /// The precedence of the operator, to be passed to <see cref="Parse"/> for the right operand.
    /// </param>
    public delegate Expression ParseOperation(Expression left, Token operatorToken, int precedence);

    /// <summary>Returns whether a punctuator or word is a binary operator.</summary>
    public bool IsOperator(string text) => SharedOperators.ContainsKey(text) || ownOperators.ContainsKey(text);

    /// <summary>
    /// Parses operands and the operators between them that bind more tightly than a given precedence.
    /// </summary>
    /// <param name="min">Operators of this precedence or lower end the expression; 0 if no operator ends it.</param>
    public Expression Parse(int min = 0)
    {
        cursor.EnterLevel();
        var left = parseOperand();
        while (PrecedenceOf(cursor.Current) is var precedence && precedence > min)
        {
            left = parseOperation(left, cursor.Current, precedence);
        }

        cursor.LeaveLevel();
        return left;
    }

    private int PrecedenceOf(Token token)
    {
        if (token.Kind is not (TokenKind.Punctuator or TokenKind.Name))
        {
            return 0;
        }

        if (SharedOperators.TryGetValue(token.Text, out int shared))
        {
            return shared;
        }

        return ownOperators.GetValueOrDefault(token.Text);
    }
}
