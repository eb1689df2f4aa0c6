using Rookery.Scripting.Syntax;

namespace Rookery.Indexing.Definitions;

/// <summary>
/// Parses the part of C# that definitions of indexes may use into the expressions and statements of scripts; what is
/// outside is refused by its name. Of nothing, members and arithmetic are nothing and comparisons false, as in
/// RavenDB's indexes.
/// </summary>
internal sealed class LinqParser
{
    private static readonly Dictionary<string, int> OwnOperators = new(StringComparer.Ordinal)
    {
        ["is"] = OperatorParser.Relation,
        ["as"] = OperatorParser.Relation,
        ["switch"] = OperatorParser.Tightest,
        ["with"] = OperatorParser.Tightest,
    };

    /// <summary>Begins a text.</summary>
    /// <param name="text">The text.</param>
    /// <param name="offset">Where it begins in the text that it is a part of.</param>
    /// <exception cref="ScriptException">It holds what is no token.</exception>
    public LinqParser(string text, int offset = 0)
        : this(text, offset, new LinqShapes()) { }

    /// <summary>Begins a text inside of another, whose variables it knows.</summary>
    /// <param name="text">The text.</param>
    /// <param name="offset">Where it begins in the text that it is a part of.</param>
    /// <param name="shapes">What is known of them.</param>
    /// <exception cref="ScriptException">It holds what is no token.</exception>
    public LinqParser(string text, int offset, LinqShapes shapes)
    {
        Cursor = new TokenCursor(new Lexer(text, isLinq: true).ReadAll(offset));
        Shapes = shapes;
        Queries = new LinqQueryParser(this);
        Expressions = new LinqExpressionParser(this);
        Primaries = new LinqPrimaryParser(this);
        Lambdas = new LinqLambdaParser(this);
        Types = new LinqTypeParser(this);
        Operators = new OperatorParser(Cursor, OwnOperators, Expressions.ParseUnary, Expressions.ParseOperation);
    }

    /// <summary>Whole texts.</summary>
    public LinqQueryParser Queries { get; }

    /// <summary>Operators, members and calls.</summary>
    public LinqExpressionParser Expressions { get; }

    /// <summary>What expressions are made of.</summary>
    public LinqPrimaryParser Primaries { get; }

    /// <summary>Functions.</summary>
    public LinqLambdaParser Lambdas { get; }

    /// <summary>Types and casts.</summary>
    public LinqTypeParser Types { get; }

    /// <summary>The text.</summary>
    public TokenCursor Cursor { get; }

    /// <summary>Operators between two operands.</summary>
    public OperatorParser Operators { get; }

    /// <summary>What is known of variables: which of them are, or hold, groups of rows.</summary>
    public LinqShapes Shapes { get; }
}
