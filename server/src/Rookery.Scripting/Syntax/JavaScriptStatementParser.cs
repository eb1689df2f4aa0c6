namespace Rookery.Scripting.Syntax;

/// <summary>
/// Parses statements of scripts. A method begins at the first token of its construct and ends after the last.
/// Statements that are JavaScript but not supported are refused by name.
/// </summary>
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

    /// <summary>Parses a block in braces.</summary>
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
            case "let" when BeginsVariable(parser.Cursor.Ahead(1)):
                return ParseVariables();
            case "if":
                return ParseIf();
            case "for":
                return ParseFor();
            case "while":
                return ParseWhile();
            case "do":
                return ParseDo();
            case "switch":
                return ParseSwitch();
            case "throw":
                return ParseThrow();
            case "break" or "continue":
                parser.Cursor.Take();
                if (parser.Cursor.Current is { Kind: TokenKind.Name, IsAfterNewLine: false })
                {
                    throw TokenCursor.NotSupported("labels", parser.Cursor.Current.Position);
                }

                EndStatement();
                return new JumpStatement(token.Text is "break", token.Position);
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
            case "using" when parser.Cursor.Ahead(1) is { Kind: TokenKind.Name, IsAfterNewLine: false }:
                throw TokenCursor.NotSupported("'using'", token.Position);
            default:
                if (JavaScriptParser.UnsupportedWords.TryGetValue(token.Text, out string? construct))
                {
                    throw TokenCursor.NotSupported(construct, token.Position);
                }

                return parser.Cursor.Ahead(1).Is(":")
                    ? throw TokenCursor.NotSupported("labels", token.Position)
                    : ParseExpressionStatement();
        }
    }

    // After 'let', a name or a pattern begins a declaration. Before anything else, 'let' is itself the name of a
    // variable.
    private static bool BeginsVariable(Token token) => token.Kind is TokenKind.Name || token.Is("{") || token.Is("[");

    private BlockStatement ParseEmpty() => new([], OpensScope: false, parser.Cursor.Take().Position);

    private ExpressionStatement ParseExpressionStatement()
    {
        int at = parser.Cursor.Current.Position;
        var expression = parser.Expressions.ParseSequence();
        EndStatement();
        return new ExpressionStatement(expression, at);
    }

    /// <summary>
    /// Parses a declaration with <c>var</c>, <c>let</c> or <c>const</c>, of one or several variables.
    /// </summary>
    private BlockStatement ParseVariables()
    {
        var variables = ParseDeclarations();
        EndStatement();
        return variables;
    }

    /// <summary>Parses <c>let a = b, c = d</c>, without the end of the statement.</summary>
    private BlockStatement ParseDeclarations()
    {
        var word = parser.Cursor.Take();
        bool isVar = word.Text is "var";
        bool isConstant = word.Text is "const";
        var variables = new List<Statement>();
        do
        {
            var token = parser.Cursor.Current;
            if (token.Is("{") || token.Is("["))
            {
                throw TokenCursor.NotSupported("destructuring", token.Position);
            }

            string name = parser.Functions.ExpectVariable(isLexical: !isVar);
            var value =
                parser.Cursor.TryTake("=") ? parser.Expressions.ParseExpression()
                : isConstant ? throw parser.Cursor.Unexpected("'=' and the constant's value")
                : null;
            variables.Add(
                new VariableStatement(name, value, isConstant, token.Position) { IsHoisted = true, IsVar = isVar }
            );
        } while (parser.Cursor.TryTake(","));
        return new BlockStatement(variables, OpensScope: false, word.Position);
    }

    private IfStatement ParseIf()
    {
        int at = parser.Cursor.Take().Position;
        var condition = ParseCondition();
        var then = ParseBranch();
        parser.Cursor.TryTake(";");
        return new IfStatement(condition, then, parser.Cursor.TryTakeWord("else") ? ParseBranch() : null, at);
    }

    /// <summary>Parses the statement that belongs to an <c>if</c>, <c>else</c> or loop.</summary>
    private Statement ParseBranch()
    {
        var token = parser.Cursor.Current;
        var statement = ParseStatement();
        // A block without a scope is a declaration of variables, or the empty statement ';'.
        return statement is BlockStatement { OpensScope: false } && token.Text is "let" or "const"
            ? throw new ScriptException(
                ScriptFault.Syntax,
                $"A declaration with {token.Quoted} is not allowed here. Put it in a block, in braces",
                token.Position
            )
            : statement;
    }

    private Statement ParseFor()
    {
        int at = parser.Cursor.Take().Position;
        if (parser.Cursor.Current.IsWord("await"))
        {
            throw TokenCursor.NotSupported("'await'", parser.Cursor.Current.Position);
        }

        parser.Cursor.Expect("(");
        var separator = parser.Cursor.Ahead(2);
        bool declares =
            parser.Cursor.Current.Kind == TokenKind.Name && parser.Cursor.Current.Text is "let" or "const" or "var";
        if (declares && (separator.IsWord("of") || separator.IsWord("in")))
        {
            return ParseForEach(at);
        }

        if (declares && (parser.Cursor.Ahead(1).Is("{") || parser.Cursor.Ahead(1).Is("[")))
        {
            throw TokenCursor.NotSupported("destructuring", parser.Cursor.Ahead(1).Position);
        }

        RefuseOtherLoopsOverValues(at);
        return ParseForSteps(at);
    }

    /// <summary>Parses a loop over elements or names, from its variable on.</summary>
    private ForOfStatement ParseForEach(int at)
    {
        string word = parser.Cursor.Take().Text;
        string name = parser.Functions.ExpectVariable(isLexical: word is not "var");
        bool takesNames = parser.Cursor.Take().Text is "in";
        var values = takesNames ? parser.Expressions.ParseSequence() : parser.Expressions.ParseExpression();
        parser.Cursor.Expect(")");
        return new ForOfStatement(name, values, ParseBranch(), at)
        {
            IsVar = word is "var",
            IsConstant = word is "const",
            TakesNames = takesNames,
        };
    }

    /// <summary>
    /// Refuses <c>for (a in b)</c> and <c>for (a of b)</c> where <c>a</c> is no declaration of one name. Before the
    /// first semicolon, the words <c>in</c> and <c>of</c> outside of brackets are no operators, so they show such a
    /// loop.
    /// </summary>
    private void RefuseOtherLoopsOverValues(int at)
    {
        int level = 0;
        for (int ahead = 0; ; ahead++)
        {
            var token = parser.Cursor.Ahead(ahead);
            bool isEnd = token.Kind == TokenKind.End || (level == 0 && (token.Is(";") || token.Is(")")));
            if (isEnd)
            {
                return;
            }

            if (level == 0 && ahead > 0 && (token.IsWord("of") || token.IsWord("in")))
            {
                bool isMember = parser.Cursor.Ahead(ahead - 1).Is(".") || parser.Cursor.Ahead(ahead - 1).Is("?.");
                if (!isMember)
                {
                    throw TokenCursor.NotSupported("'for' with a variable that is declared before", at);
                }
            }

            level +=
                token.Is("(") || token.Is("[") || token.Is("{") ? 1
                : token.Is(")") || token.Is("]") || token.Is("}") ? -1
                : 0;
        }
    }

    /// <summary>Parses a loop <c>for (a; b; c)</c>, from <c>a</c> on.</summary>
    private ForStatement ParseForSteps(int at)
    {
        var token = parser.Cursor.Current;
        Statement? start =
            token.Is(";") ? null
            : token.Kind == TokenKind.Name && token.Text is "let" or "const" or "var" ? ParseDeclarations()
            : new ExpressionStatement(parser.Expressions.ParseSequence(), token.Position);
        parser.Cursor.Expect(";");
        var condition = parser.Cursor.Current.Is(";") ? null : parser.Expressions.ParseSequence();
        parser.Cursor.Expect(";");
        var step = parser.Cursor.Current.Is(")") ? null : parser.Expressions.ParseSequence();
        parser.Cursor.Expect(")");
        return new ForStatement(start, condition, step, ParseBranch(), at);
    }

    private WhileStatement ParseWhile()
    {
        int at = parser.Cursor.Take().Position;
        var condition = ParseCondition();
        return new WhileStatement(condition, ParseBranch(), IsDo: false, at);
    }

    private WhileStatement ParseDo()
    {
        int at = parser.Cursor.Take().Position;
        var body = ParseBranch();
        parser.Cursor.ExpectWord("while");
        var condition = ParseCondition();
        parser.Cursor.TryTake(";");
        return new WhileStatement(condition, body, IsDo: true, at);
    }

    private Expression ParseCondition()
    {
        parser.Cursor.Expect("(");
        var condition = parser.Expressions.ParseSequence();
        parser.Cursor.Expect(")");
        return condition;
    }

    private SwitchStatement ParseSwitch()
    {
        int at = parser.Cursor.Take().Position;
        var value = ParseCondition();
        parser.Cursor.Expect("{");
        var clauses = new List<SwitchClause>();
        while (!parser.Cursor.TryTake("}"))
        {
            clauses.Add(ParseClause(hasDefault: clauses.Exists(static clause => clause.Test is null)));
        }

        return new SwitchStatement(value, clauses, at);
    }

    private SwitchClause ParseClause(bool hasDefault)
    {
        var word = parser.Cursor.Current;
        Expression? test = null;
        if (parser.Cursor.TryTakeWord("case"))
        {
            test = parser.Expressions.ParseSequence();
        }
        else if (hasDefault && word.IsWord("default"))
        {
            throw new ScriptException(ScriptFault.Syntax, "'switch' has two 'default'", word.Position);
        }
        else
        {
            parser.Cursor.ExpectWord("default");
        }

        parser.Cursor.Expect(":");
        var statements = new List<Statement>();
        while (
            parser.Cursor.Current is var token && !token.Is("}") && !token.IsWord("case") && !token.IsWord("default")
        )
        {
            if (!parser.Cursor.TryTake(";"))
            {
                statements.Add(ParseStatement());
            }

            // A jump to a later clause would skip the declaration, and JavaScript then refuses the variable.
            if (
                token.IsWord("const") || (token.IsWord("let") && statements[^1] is BlockStatement { OpensScope: false })
            )
            {
                throw TokenCursor.NotSupported(
                    $"{token.Quoted} in a clause of 'switch' without braces around its statements",
                    token.Position
                );
            }
        }

        return new SwitchClause(test, statements);
    }

    private ThrowStatement ParseThrow()
    {
        int at = parser.Cursor.Take().Position;
        if (parser.Cursor.Current.IsAfterNewLine)
        {
            throw parser.Cursor.Unexpected("the thrown value on the same line");
        }

        bool isNew = parser.Cursor.Current.IsWord("new");
        bool isError = IsNameOfError(parser.Cursor.Ahead(isNew ? 1 : 0)) && (isNew || parser.Cursor.Ahead(1).Is("("));
        var value = isError ? ParseError(isNew) : parser.Expressions.ParseSequence();
        EndStatement();
        return new ThrowStatement(value, at);
    }

    private static bool IsNameOfError(Token token) =>
        token.Kind == TokenKind.Name
        && token.Text is "Error" or "TypeError" or "RangeError" or "ReferenceError" or "SyntaxError";

    /// <summary>Parses <c>new Error(a)</c> or <c>Error(a)</c>, and returns <c>'Error: ' + a</c>.</summary>
    private Expression ParseError(bool isNew)
    {
        int at = parser.Cursor.Current.Position;
        parser.Cursor.Reset(parser.Cursor.Mark + (isNew ? 1 : 0));
        string name = parser.Cursor.Take().Text;
        var arguments = parser.Cursor.Current.Is("(") ? parser.Expressions.ParseArguments() : [];
        return arguments switch
        {
            [] or [TextLiteral { Text: "" }] => new TextLiteral(name, at),
            [var message] => new TemplateLiteral([new TextLiteral($"{name}: ", at), message], at),
            _ => throw TokenCursor.NotSupported($"'{name}' with {arguments.Count} arguments", at),
        };
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

    /// <summary>
    /// Ends a statement at a semicolon, a brace, an <c>else</c> or, as in JavaScript, the end of a line.
    /// </summary>
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
