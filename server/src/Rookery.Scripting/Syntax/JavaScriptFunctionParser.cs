namespace Rookery.Scripting.Syntax;

/// <summary>Parses functions inside expressions of scripts, and names of variables.</summary>
internal sealed class JavaScriptFunctionParser(JavaScriptParser parser)
{
    /// <summary>Reads the name of a variable.</summary>
    /// <param name="isLexical">
    /// Whether <c>let</c> or <c>const</c> declares it; such a variable cannot be named <c>let</c>.
    /// </param>
    public string ExpectVariable(bool isLexical = false)
    {
        var token = parser.Cursor.Current;
        if (token.IsWord("undefined"))
        {
            throw TokenCursor.NotSupported("a variable of the name 'undefined'", token.Position);
        }

        if (isLexical && token.IsWord("let"))
        {
            throw parser.Cursor.Unexpected("A name");
        }

        if (
            token.Kind == TokenKind.Name
            && JavaScriptParser.UnsupportedWords.TryGetValue(token.Text, out string? construct)
        )
        {
            throw TokenCursor.NotSupported(construct, token.Position);
        }

        return token.Kind != TokenKind.Name || JavaScriptParser.ReservedWords.Contains(token.Text)
            ? throw parser.Cursor.Unexpected("A name")
            : parser.Cursor.Take().Text;
    }

    /// <summary>Returns whether an arrow function begins here. Looks ahead for its arrow.</summary>
    public bool IsLambda()
    {
        if (parser.Cursor.Current.Kind == TokenKind.Name)
        {
            return parser.Cursor.Ahead(1).Is("=>");
        }

        if (!parser.Cursor.Current.Is("("))
        {
            return false;
        }

        int ahead = 0,
            level = 0;
        do
        {
            var token = parser.Cursor.Ahead(ahead++);
            if (token.Kind == TokenKind.End)
            {
                return false;
            }

            level +=
                token.Is("(") ? 1
                : token.Is(")") ? -1
                : 0;
        } while (level > 0);
        return parser.Cursor.Ahead(ahead).Is("=>");
    }

    public LambdaExpression ParseLambda()
    {
        int at = parser.Cursor.Current.Position;
        IReadOnlyList<string> parameters = parser.Cursor.Current.Is("(") ? ParseParameters() : [ExpectVariable()];
        parser.Cursor.Expect("=>");
        int resizes = parser.Resizes;
        var function = parser.Cursor.Current.Is("{")
            ? new LambdaExpression(parameters, Value: null, parser.Statements.ParseBlock(), at)
            : new LambdaExpression(parameters, parser.Expressions.ParseExpression(), Body: null, at);
        return function with { MayResize = parser.Resizes > resizes };
    }

    public LambdaExpression ParseFunctionExpression()
    {
        int at = parser.Cursor.ExpectWord("function").Position;
        if (parser.Cursor.Current.Is("*"))
        {
            throw TokenCursor.NotSupported("generators", parser.Cursor.Current.Position);
        }

        if (!parser.Cursor.Current.Is("("))
        {
            ExpectVariable();
        }

        bool wasInFunction = parser.IsInFunction;
        parser.IsInFunction = true;
        int resizes = parser.Resizes;
        var function = new LambdaExpression(ParseParameters(), Value: null, parser.Statements.ParseBlock(), at);
        parser.IsInFunction = wasInFunction;
        return function with { MayResize = parser.Resizes > resizes };
    }

    public List<string> ParseParameters()
    {
        parser.Cursor.Expect("(");
        var names = new List<string>();
        while (!parser.Cursor.TryTake(")"))
        {
            var token = parser.Cursor.Current;
            if (token.Is("{") || token.Is("[") || token.Is("..."))
            {
                throw TokenCursor.NotSupported(token.Is("...") ? "rest parameters" : "destructuring", token.Position);
            }

            names.Add(ExpectVariable());
            if (parser.Cursor.Current.Is("="))
            {
                throw TokenCursor.NotSupported("default values of parameters", parser.Cursor.Current.Position);
            }

            if (!parser.Cursor.Current.Is(")"))
            {
                parser.Cursor.Expect(",");
            }
        }

        return names;
    }
}
