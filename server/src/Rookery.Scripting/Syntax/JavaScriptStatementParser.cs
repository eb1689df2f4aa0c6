namespace Rookery.Scripting.Syntax;

/// <summary>Parses statements of scripts.</summary>
internal sealed class JavaScriptStatementParser(JavaScriptParser parser)
{
    /// <summary>Parses all remaining statements.</summary>
    public List<Statement> ParseStatements()
    {
        var statements = new List<Statement>();
        while (!parser.IsAtEnd)
        {
            if (!parser.Cursor.TryTake(";"))
            {
                statements.Add(ParseStatement());
            }
        }

        return statements;
    }

    /// <summary>Parses the declarations of functions that come next.</summary>
    public List<Statement> ParseFunctions()
    {
        var functions = new List<Statement>();
        while (parser.Cursor.Current.IsWord("function") || (functions.Count > 0 && parser.Cursor.Current.Is(";")))
        {
            if (!parser.Cursor.TryTake(";"))
            {
                functions.Add(ParseStatement());
            }
        }

        return functions;
    }

    public BlockStatement ParseBlock()
    {
        int at = parser.Cursor.Expect("{").Position;
        var statements = new List<Statement>();
        while (!parser.Cursor.TryTake("}"))
        {
            if (!parser.Cursor.TryTake(";"))
            {
                statements.Add(ParseStatement());
            }
        }

        return new BlockStatement(statements, OpensScope: true, at);
    }

    private Statement ParseStatement()
    {
        parser.Cursor.EnterLevel();
        var token = parser.Cursor.Current;
        var result =
            token.Kind == TokenKind.Name ? ParseWordStatement(token)
            : token.Is("{") ? ParseBlock()
            : token.Is(";") ? ParseEmpty()
            : ParseExpressionStatement();
        parser.Cursor.LeaveLevel();
        return result;
    }

    private Statement ParseWordStatement(Token token)
    {
        switch (token.Text)
        {
            case "var" or "const":
            case "let"
                when parser.Cursor.Ahead(1).Kind is TokenKind.Name
                    || parser.Cursor.Ahead(1).Is("{")
                    || parser.Cursor.Ahead(1).Is("["):
                return ParseVariables();
            case "if":
                return ParseIf();
            case "for":
                return ParseFor();
            case "break" or "continue":
                parser.Cursor.Take();
                if (parser.Cursor.Current is { Kind: TokenKind.Name, IsAfterNewLine: false })
                {
                    throw TokenCursor.NotSupported("labels", parser.Cursor.Current.Position);
                }

                EndStatement();
                return new LoopStatement(token.Text is "break", token.Position);
            case "return":
                parser.Cursor.Take();
                bool isEmpty =
                    parser.Cursor.Current.IsAfterNewLine
                    || parser.Cursor.Current.Is(";")
                    || parser.Cursor.Current.Is("}")
                    || parser.IsAtEnd;
                var value = isEmpty ? null : parser.Expressions.ParseSequence();
                EndStatement();
                return new ReturnStatement(value, token.Position);
            case "function":
                return ParseFunction();
            default:
                return JavaScriptParser.UnsupportedWords.TryGetValue(token.Text, out string? construct)
                        ? throw TokenCursor.NotSupported(construct, token.Position)
                    : parser.Cursor.Ahead(1).Is(":") ? throw TokenCursor.NotSupported("labels", token.Position)
                    : ParseExpressionStatement();
        }
    }

    private BlockStatement ParseEmpty() => new([], OpensScope: false, parser.Cursor.Take().Position);

    private ExpressionStatement ParseExpressionStatement()
    {
        int at = parser.Cursor.Current.Position;
        var expression = parser.Expressions.ParseSequence();
        EndStatement();
        return new ExpressionStatement(expression, at);
    }

    private BlockStatement ParseVariables()
    {
        var word = parser.Cursor.Take();
        var variables = new List<Statement>();
        do
        {
            var token = parser.Cursor.Current;
            if (token.Is("{") || token.Is("["))
            {
                throw TokenCursor.NotSupported("destructuring", token.Position);
            }

            string name = parser.Functions.ExpectVariable(isLexical: word.Text is not "var");
            bool isConstant = word.Text is "const";
            var value =
                parser.Cursor.TryTake("=") ? parser.Expressions.ParseExpression()
                : isConstant ? throw parser.Cursor.Unexpected("'=' and the constant's value")
                : null;
            bool isVar = word.Text is "var";
            variables.Add(
                new VariableStatement(name, value, isConstant, token.Position) { IsHoisted = true, IsVar = isVar }
            );
        } while (parser.Cursor.TryTake(","));
        EndStatement();
        return new BlockStatement(variables, OpensScope: false, word.Position);
    }

    private IfStatement ParseIf()
    {
        int at = parser.Cursor.Take().Position;
        parser.Cursor.Expect("(");
        var condition = parser.Expressions.ParseSequence();
        parser.Cursor.Expect(")");
        var then = ParseBranch();
        parser.Cursor.TryTake(";");
        return new IfStatement(condition, then, parser.Cursor.TryTakeWord("else") ? ParseBranch() : null, at);
    }

    /// <summary>Parses the statement after <c>if (…)</c>, <c>else</c> or <c>for (…)</c>.</summary>
    private Statement ParseBranch()
    {
        var token = parser.Cursor.Current;
        return (ParseStatement(), token.Text) switch
        {
            (BlockStatement { OpensScope: false }, "var") => throw TokenCursor.NotSupported(
                "a 'var' here: declare the variable before",
                token.Position
            ),
            (BlockStatement { OpensScope: false }, "let" or "const") => throw new ScriptException(
                ScriptFault.Syntax,
                $"{token.Quoted} stands where only a block or another statement may stand",
                token.Position
            ),
            (var statement, _) => statement,
        };
    }

    private ForOfStatement ParseFor()
    {
        int at = parser.Cursor.Take().Position;
        if (parser.Cursor.Current.IsWord("await"))
        {
            throw TokenCursor.NotSupported("'await'", parser.Cursor.Current.Position);
        }

        parser.Cursor.Expect("(");
        if (
            parser.Cursor.Current.Kind == TokenKind.Name
            && parser.Cursor.Current.Text is "let" or "const" or "var"
            && parser.Cursor.Ahead(2).IsWord("of")
        )
        {
            string word = parser.Cursor.Take().Text;
            string name = parser.Functions.ExpectVariable(isLexical: word is not "var");
            parser.Cursor.ExpectWord("of");
            var values = parser.Expressions.ParseExpression();
            parser.Cursor.Expect(")");
            return new ForOfStatement(name, values, ParseBranch(), at)
            {
                IsVar = word is "var",
                IsConstant = word is "const",
            };
        }

        throw TokenCursor.NotSupported("'for' loops other than 'for (const x of array)'", at);
    }

    private FunctionStatement ParseFunction()
    {
        int at = parser.Cursor.Take().Position;
        if (parser.Cursor.Current.Is("*"))
        {
            throw TokenCursor.NotSupported("generators", parser.Cursor.Current.Position);
        }

        string name = parser.Functions.ExpectVariable();
        return new FunctionStatement(name, parser.Functions.ParseParameters(), ParseBlock(), at);
    }

    /// <summary>Ends a statement at a semicolon, a brace or, as in JavaScript, the end of a line.</summary>
    private void EndStatement()
    {
        if (
            !parser.Cursor.TryTake(";")
            && !parser.Cursor.Current.Is("}")
            && !parser.IsAtEnd
            && !parser.Cursor.Current.IsAfterNewLine
            && !parser.Cursor.Current.IsWord("else")
        )
        {
            throw parser.Cursor.Unexpected("';' or the end of the line");
        }
    }
}
