namespace Rookery.Scripting.Syntax;

/// <content>Statements.</content>
internal sealed partial class JavaScriptParser
{
    /// <summary>Parses all that is left.</summary>
    public List<Statement> ParseStatements()
    {
        var statements = new List<Statement>();
        while (!IsAtEnd)
        {
            if (!_cursor.TryTake(";"))
            {
                statements.Add(ParseStatement());
            }
        }

        return statements;
    }

    private BlockStatement ParseBlock()
    {
        int at = _cursor.Expect("{").Position;
        var statements = new List<Statement>();
        while (!_cursor.TryTake("}"))
        {
            if (!_cursor.TryTake(";"))
            {
                statements.Add(ParseStatement());
            }
        }

        return new BlockStatement(statements, OpensScope: true, at);
    }

    private Statement ParseStatement()
    {
        _cursor.Enter();
        var token = _cursor.Current;
        var result =
            token.Kind == TokenKind.Name ? ParseWordStatement(token)
            : token.Is("{") ? ParseBlock()
            : token.Is(";") ? ParseEmpty()
            : ParseExpressionStatement();
        _cursor.Leave();
        return result;
    }

    private Statement ParseWordStatement(Token token)
    {
        switch (token.Text)
        {
            case "var" or "const":
            case "let"
                when _cursor.Ahead(1).Kind is TokenKind.Name || _cursor.Ahead(1).Is("{") || _cursor.Ahead(1).Is("["):
                return ParseVariables();
            case "if":
                return ParseIf();
            case "for":
                return ParseFor();
            case "break" or "continue":
                _cursor.Take();
                if (_cursor.Current is { Kind: TokenKind.Name, IsAfterNewLine: false })
                {
                    throw TokenCursor.NotSupported("labels", _cursor.Current.Position);
                }

                EndStatement();
                return new LoopStatement(token.Text is "break", token.Position);
            case "return":
                _cursor.Take();
                bool isEmpty =
                    _cursor.Current.IsAfterNewLine || _cursor.Current.Is(";") || _cursor.Current.Is("}") || IsAtEnd;
                var value = isEmpty ? null : ParseSequence();
                EndStatement();
                return new ReturnStatement(value, token.Position);
            case "function":
                return ParseFunction();
            default:
                return UnsupportedWords.TryGetValue(token.Text, out string? construct)
                        ? throw TokenCursor.NotSupported(construct, token.Position)
                    : _cursor.Ahead(1).Is(":") ? throw TokenCursor.NotSupported("labels", token.Position)
                    : ParseExpressionStatement();
        }
    }

    private BlockStatement ParseEmpty() => new([], OpensScope: false, _cursor.Take().Position);

    private ExpressionStatement ParseExpressionStatement()
    {
        int at = _cursor.Current.Position;
        var expression = ParseSequence();
        EndStatement();
        return new ExpressionStatement(expression, at);
    }

    private BlockStatement ParseVariables()
    {
        var word = _cursor.Take();
        var variables = new List<Statement>();
        do
        {
            var token = _cursor.Current;
            if (token.Is("{") || token.Is("["))
            {
                throw TokenCursor.NotSupported("destructuring", token.Position);
            }

            string name = ExpectVariable();
            bool isConstant = word.Text is "const";
            var value =
                _cursor.TryTake("=") ? ParseExpression()
                : isConstant ? throw _cursor.Unexpected("'=' and the constant's value")
                : null;
            bool isVar = word.Text is "var";
            variables.Add(
                new VariableStatement(name, value, isConstant, token.Position) { IsHoisted = true, IsVar = isVar }
            );
        } while (_cursor.TryTake(","));
        EndStatement();
        return new BlockStatement(variables, OpensScope: false, word.Position);
    }

    private IfStatement ParseIf()
    {
        int at = _cursor.Take().Position;
        _cursor.Expect("(");
        var condition = ParseSequence();
        _cursor.Expect(")");
        var then = ParseStatement();
        _cursor.TryTake(";");
        return new IfStatement(condition, then, _cursor.TryTakeWord("else") ? ParseStatement() : null, at);
    }

    private ForOfStatement ParseFor()
    {
        int at = _cursor.Take().Position;
        if (_cursor.Current.IsWord("await"))
        {
            throw TokenCursor.NotSupported("'await'", _cursor.Current.Position);
        }

        _cursor.Expect("(");
        if (
            _cursor.Current.Kind == TokenKind.Name
            && _cursor.Current.Text is "let" or "const" or "var"
            && _cursor.Ahead(2).IsWord("of")
        )
        {
            string word = _cursor.Take().Text;
            string name = ExpectVariable();
            _cursor.ExpectWord("of");
            var values = ParseExpression();
            _cursor.Expect(")");
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
        int at = _cursor.Take().Position;
        if (_cursor.Current.Is("*"))
        {
            throw TokenCursor.NotSupported("generators", _cursor.Current.Position);
        }

        string name = ExpectVariable();
        return new FunctionStatement(name, ParseParameters(), ParseBlock(), at);
    }

    /// <summary>As JavaScript, which ends a statement at the end of a line where no more of it follows.</summary>
    private void EndStatement()
    {
        if (
            !_cursor.TryTake(";")
            && !_cursor.Current.Is("}")
            && !IsAtEnd
            && !_cursor.Current.IsAfterNewLine
            && !_cursor.Current.IsWord("else")
        )
        {
            throw _cursor.Unexpected("';' or the end of the line");
        }
    }
}
