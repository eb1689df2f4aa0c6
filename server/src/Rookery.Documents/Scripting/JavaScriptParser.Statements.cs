namespace Rookery.Documents.Scripting;

/// <content>Statements.</content>
internal sealed partial class JavaScriptParser
{
    /// <summary>Parses all that is left.</summary>
    public List<Statement> ParseStatements()
    {
        var statements = new List<Statement>();
        while (!IsAtEnd)
        {
            if (!cursor.TryTake(";"))
            {
                statements.Add(ParseStatement());
            }
        }

        return statements;
    }

    private BlockStatement ParseBlock()
    {
        int at = cursor.Expect("{").Position;
        var statements = new List<Statement>();
        while (!cursor.TryTake("}"))
        {
            if (!cursor.TryTake(";"))
            {
                statements.Add(ParseStatement());
            }
        }

        return new BlockStatement(statements, OpensScope: true, at);
    }

    private Statement ParseStatement()
    {
        cursor.Enter();
        var token = cursor.Current;
        var result = token.Kind == TokenKind.Name ? ParseWordStatement(token)
            : token.Is("{") ? ParseBlock()
            : token.Is(";") ? ParseEmpty()
            : ParseExpressionStatement();
        cursor.Leave();
        return result;
    }

    private Statement ParseWordStatement(Token token)
    {
        switch (token.Text)
        {
            case "var" or "const":
            case "let" when cursor.Ahead(1).Kind is TokenKind.Name || cursor.Ahead(1).Is("{") || cursor.Ahead(1).Is("["):
                return ParseVariables();
            case "if":
                return ParseIf();
            case "for":
                return ParseFor();
            case "break" or "continue":
                cursor.Take();
                if (cursor.Current is { Kind: TokenKind.Name, IsAfterNewLine: false })
                {
                    throw TokenCursor.NotSupported("labels", cursor.Current.Position);
                }

                EndStatement();
                return new LoopStatement(token.Text is "break", token.Position);
            case "return":
                cursor.Take();
                bool isEmpty = cursor.Current.IsAfterNewLine || cursor.Current.Is(";") || cursor.Current.Is("}") || IsAtEnd;
                var value = isEmpty ? null : ParseSequence();
                EndStatement();
                return new ReturnStatement(value, token.Position);
            case "function":
                return ParseFunction();
            default:
                return UnsupportedWords.TryGetValue(token.Text, out string? construct)
                    ? throw TokenCursor.NotSupported(construct, token.Position)
                    : cursor.Ahead(1).Is(":") ? throw TokenCursor.NotSupported("labels", token.Position)
                    : ParseExpressionStatement();
        }
    }

    private BlockStatement ParseEmpty() => new([], OpensScope: false, cursor.Take().Position);

    private ExpressionStatement ParseExpressionStatement()
    {
        int at = cursor.Current.Position;
        var expression = ParseSequence();
        EndStatement();
        return new ExpressionStatement(expression, at);
    }

    private BlockStatement ParseVariables()
    {
        var word = cursor.Take();
        var variables = new List<Statement>();
        do
        {
            var token = cursor.Current;
            if (token.Is("{") || token.Is("["))
            {
                throw TokenCursor.NotSupported("destructuring", token.Position);
            }

            string name = ExpectVariable();
            bool isConstant = word.Text is "const";
            var value = cursor.TryTake("=") ? ParseExpression()
                : isConstant ? throw cursor.Unexpected("'=' and the constant's value") : null;
            bool isVar = word.Text is "var";
            variables.Add(new VariableStatement(name, value, isConstant, token.Position)
            {
                IsHoisted = true,
                IsVar = isVar,
            });
        }
        while (cursor.TryTake(","));
        EndStatement();
        return new BlockStatement(variables, OpensScope: false, word.Position);
    }

    private IfStatement ParseIf()
    {
        int at = cursor.Take().Position;
        cursor.Expect("(");
        var condition = ParseSequence();
        cursor.Expect(")");
        var then = ParseStatement();
        cursor.TryTake(";");
        return new IfStatement(condition, then, cursor.TryTakeWord("else") ? ParseStatement() : null, at);
    }

    private ForOfStatement ParseFor()
    {
        int at = cursor.Take().Position;
        if (cursor.Current.IsWord("await"))
        {
            throw TokenCursor.NotSupported("'await'", cursor.Current.Position);
        }

        cursor.Expect("(");
        if (cursor.Current.Kind == TokenKind.Name && cursor.Current.Text is "let" or "const" or "var" && cursor.Ahead(2).IsWord("of"))
        {
            string word = cursor.Take().Text;
            string name = ExpectVariable();
            cursor.ExpectWord("of");
            var values = ParseExpression();
            cursor.Expect(")");
            return new ForOfStatement(name, values, ParseStatement(), at)
            {
                IsVar = word is "var",
                IsConstant = word is "const",
            };
        }

        throw TokenCursor.NotSupported("'for' loops other than 'for (const x of array)'", at);
    }

    private FunctionStatement ParseFunction()
    {
        int at = cursor.Take().Position;
        if (cursor.Current.Is("*"))
        {
            throw TokenCursor.NotSupported("generators", cursor.Current.Position);
        }

        string name = ExpectVariable();
        return new FunctionStatement(name, ParseParameters(), ParseBlock(), at);
    }

    /// <summary>As JavaScript, which ends a statement at the end of a line where no more of it follows.</summary>
    private void EndStatement()
    {
        if (!cursor.TryTake(";") && !cursor.Current.Is("}") && !IsAtEnd && !cursor.Current.IsAfterNewLine && !cursor.Current.IsWord("else"))
        {
            throw cursor.Unexpected("';' or the end of the line");
        }
    }
}
