namespace Rookery.Scripting.Syntax;

/// <summary>Parses the part of JavaScript that scripts may use; what is outside is refused by its name.</summary>
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

    /// <summary>Words that begin what we do not run, and as what an error names them.</summary>
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
        ["while"] = "'while' loops",
        ["do"] = "'do' loops",
        ["switch"] = "'switch'",
        ["try"] = "'try'",
        ["throw"] = "'throw'",
        ["with"] = "'with'",
        ["debugger"] = "'debugger'",
    };

    /// <summary>Words that are no names of variables.</summary>
    public static readonly HashSet<string> ReservedWords = new(StringComparer.Ordinal)
    {
        "break",
        "case",
        "catch",
        "const",
        "continue",
        "default",
        "delete",
        "else",
        "enum",
        "finally",
        "for",
        "function",
        "if",
        "in",
        "instanceof",
        "return",
        "this",
        "typeof",
        "var",
        "true",
        "false",
        "null",
    };

    /// <summary>Begins a text.</summary>
    /// <param name="text">The text.</param>
    /// <param name="offset">Where it begins in the script that it is a part of.</param>
    /// <exception cref="ScriptException">It holds what is no token.</exception>
    public JavaScriptParser(string text, int offset = 0)
    {
        Cursor = new TokenCursor(new Lexer(text, isLinq: false).ReadAll(offset));
        Statements = new JavaScriptStatementParser(this);
        Expressions = new JavaScriptExpressionParser(this);
        Primaries = new JavaScriptPrimaryParser(this);
        Functions = new JavaScriptFunctionParser(this);
        Operators = new OperatorParser(Cursor, OwnOperators, Expressions.ParseUnary, Expressions.ParseOperation);
    }

    /// <summary>Statements.</summary>
    public JavaScriptStatementParser Statements { get; }

    /// <summary>Operators, members and calls.</summary>
    public JavaScriptExpressionParser Expressions { get; }

    /// <summary>What expressions are made of.</summary>
    public JavaScriptPrimaryParser Primaries { get; }

    /// <summary>Functions inside of expressions.</summary>
    public JavaScriptFunctionParser Functions { get; }

    /// <summary>The tokens, for who reads a frame around expressions.</summary>
    public TokenCursor Cursor { get; }

    /// <summary>Operators between two operands.</summary>
    public OperatorParser Operators { get; }

    /// <summary>Whether a function with <c>function</c> is being read, where <c>this</c> is another.</summary>
    public bool IsInFunction { get; set; }

    /// <summary>Whether nothing is left.</summary>
    public bool IsAtEnd => Cursor.Current.Kind == TokenKind.End;

    /// <summary>Refuses what is left.</summary>
    public void ExpectEnd()
    {
        if (!IsAtEnd)
        {
            throw Cursor.Unexpected("the end");
        }
    }
}
