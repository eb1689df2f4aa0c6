namespace Rookery.Scripting.Syntax;

/// <summary>Parses the supported subset of JavaScript. Rejects anything else by name.</summary>
internal sealed class JavaScriptParser
{
    private static readonly Dictionary<string, int> OwnOperators = new(StringComparer.Ordinal)
    {
        ["==="] = OperatorParser.Equality,
        ["!=="] = OperatorParser.Equality,
        ["in"] = OperatorParser.Relation,
        ["instanceof"] = OperatorParser.Relation,
        ["**"] = OperatorParser.Tightest,
    };

    /// <summary>Maximum instructions of all regular expressions of a script.</summary>
    public const int MaxPatternInstructions = 20_000;

    /// <summary>Keywords of unsupported constructs, with their names in error messages.</summary>
    public static readonly Dictionary<string, string> UnsupportedWords = new(StringComparer.Ordinal)
    {
        ["new"] = "'new'",
        ["class"] = "classes",
        ["await"] = "'await'",
        ["async"] = "asynchronous functions",
        ["yield"] = "generators",
        ["super"] = "'super'",
        ["import"] = "'import'",
        ["export"] = "'export'",
        ["void"] = "'void'",
        ["try"] = "'try'",
        ["with"] = "'with'",
        ["debugger"] = "'debugger'",
    };

    /// <summary>Words that cannot name variables.</summary>
    public static readonly HashSet<string> ReservedWords = new(StringComparer.Ordinal)
    {
        "break",
        "case",
        "catch",
        "const",
        "continue",
        "default",
        "delete",
        "do",
        "else",
        "enum",
        "finally",
        "for",
        "function",
        "if",
        "in",
        "instanceof",
        "return",
        "switch",
        "this",
        "throw",
        "typeof",
        "var",
        "while",
        "true",
        "false",
        "null",
    };

    /// <summary>Creates a parser positioned at the start of a text.</summary>
    /// <param name="text">The text.</param>
    /// <param name="offset">The position of this text in the whole script.</param>
    /// <param name="level">The level of nesting of this text in the whole script.</param>
    /// <exception cref="ScriptException">The text has an invalid token.</exception>
    public JavaScriptParser(string text, int offset = 0, int level = 0)
    {
        Cursor = new TokenCursor(new Lexer(text, isCSharp: false).ReadAll(offset), level);
        Statements = new JavaScriptStatementParser(this);
        Expressions = new JavaScriptExpressionParser(this);
        Primaries = new JavaScriptPrimaryParser(this);
        Functions = new JavaScriptFunctionParser(this);
        Operators = new OperatorParser(Cursor, OwnOperators, Expressions.ParseUnary, Expressions.ParseOperation);
    }

    /// <summary>Parses statements.</summary>
    public JavaScriptStatementParser Statements { get; }

    /// <summary>Parses operators, member accesses and calls.</summary>
    public JavaScriptExpressionParser Expressions { get; }

    /// <summary>Parses operands: names, literals, arrays and objects.</summary>
    public JavaScriptPrimaryParser Primaries { get; }

    /// <summary>Parses functions inside expressions.</summary>
    public JavaScriptFunctionParser Functions { get; }

    /// <summary>The tokens of the text.</summary>
    public TokenCursor Cursor { get; }

    /// <summary>Parses binary operators.</summary>
    public OperatorParser Operators { get; }

    /// <summary>
    /// Number of places read so far that may add or remove elements of an array, such as calls of <c>push</c>.
    /// </summary>
    public int Resizes { get; set; }

    /// <summary>Number of instructions of the regular expressions read so far.</summary>
    public int PatternInstructions { get; set; }

    /// <summary>Whether the parser is inside a <c>function</c>, which has its own <c>this</c>.</summary>
    public bool IsInFunction { get; set; }

    /// <summary>Whether all tokens are parsed.</summary>
    public bool IsAtEnd => Cursor.Current.Kind == TokenKind.End;

    /// <summary>Rejects remaining tokens.</summary>
    public void ExpectEnd()
    {
        if (!IsAtEnd)
        {
            throw Cursor.Unexpected("the end");
        }
    }
}
