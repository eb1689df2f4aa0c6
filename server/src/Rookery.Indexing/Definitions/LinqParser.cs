using Rookery.Scripting.Syntax;

namespace Rookery.Indexing.Definitions;

/// <summary>
/// Parses the supported subset of C# in index definitions to script expressions and statements. Rejects anything else
/// by name. As in RavenDB's indexes, a member of null is null, arithmetic with null returns null, and comparisons with
/// null are false.
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

    /// <summary>Starts to parse a text.</summary>
    /// <param name="text">The text.</param>
    /// <param name="offset">The position of this text in the whole index text.</param>
    /// <exception cref="ScriptException">The text has an invalid token.</exception>
    public LinqParser(string text, int offset = 0)
        : this(text, offset, level: 0, new LinqShapes()) { }

    /// <summary>Starts to parse an expression embedded in another text, with the variables known there.</summary>
    /// <param name="text">The text.</param>
    /// <param name="offset">The position of this text in the whole index text.</param>
    /// <param name="level">The level of nesting of this text in the whole index text.</param>
    /// <param name="shapes">The known shapes and types of those variables.</param>
    /// <exception cref="ScriptException">The text has an invalid token.</exception>
    public LinqParser(string text, int offset, int level, LinqShapes shapes)
    {
        Cursor = new TokenCursor(new Lexer(text, isCSharp: true).ReadAll(offset), level);
        Shapes = shapes;
        Queries = new LinqQueryParser(this);
        Expressions = new LinqExpressionParser(this);
        Primaries = new LinqPrimaryParser(this);
        Lambdas = new LinqLambdaParser(this);
        Types = new LinqTypeParser(this);
        Operators = new OperatorParser(Cursor, OwnOperators, Expressions.ParseUnary, Expressions.ParseOperation);
    }

    /// <summary>Parses whole queries.</summary>
    public LinqQueryParser Queries { get; }

    /// <summary>Parses operators, member accesses and calls.</summary>
    public LinqExpressionParser Expressions { get; }

    /// <summary>Parses operands: names, literals and <c>new</c>.</summary>
    public LinqPrimaryParser Primaries { get; }

    /// <summary>Parses lambdas.</summary>
    public LinqLambdaParser Lambdas { get; }

    /// <summary>Parses types and casts.</summary>
    public LinqTypeParser Types { get; }

    /// <summary>The tokens of the text.</summary>
    public TokenCursor Cursor { get; }

    /// <summary>Parses binary operators.</summary>
    public OperatorParser Operators { get; }

    /// <summary>The known types of the variables, and which of them are groups of rows or contain groups.</summary>
    public LinqShapes Shapes { get; }
}
