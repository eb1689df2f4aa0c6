using Rookery.Scripting.Compiling;

namespace Rookery.Scripting.Syntax;

/// <summary>
/// Parses the part of JavaScript that scripts may use; what is outside is refused by its name. Here expressions, by
/// precedence.
/// </summary>
internal sealed partial class JavaScriptParser
{
    private static readonly Dictionary<string, int> OwnOperators = new(StringComparer.Ordinal)
    {
        ["==="] = OperatorParser.Equality,
        ["!=="] = OperatorParser.Equality,
        ["in"] = OperatorParser.Relation,
        ["instanceof"] = OperatorParser.Relation,
        ["**"] = OperatorParser.Tightest,
    };

    private static readonly Dictionary<string, Opcode> Operators = new(StringComparer.Ordinal)
    {
        ["??"] = Opcode.JumpKeepingValue,
        ["||"] = Opcode.JumpKeepingTrue,
        ["&&"] = Opcode.JumpKeepingFalse,
        ["=="] = Opcode.LooseEqual,
        ["!="] = Opcode.LooseUnequal,
        ["==="] = Opcode.StrictEqual,
        ["!=="] = Opcode.StrictUnequal,
        ["<"] = Opcode.Less,
        ["<="] = Opcode.LessOrEqual,
        [">"] = Opcode.Greater,
        [">="] = Opcode.GreaterOrEqual,
        ["+"] = Opcode.Add,
        ["-"] = Opcode.Subtract,
        ["*"] = Opcode.Multiply,
        ["/"] = Opcode.Divide,
        ["%"] = Opcode.Remainder,
    };

    /// <summary>Words that begin what we do not run, and as what an error names them.</summary>
    private static readonly Dictionary<string, string> UnsupportedWords = new(StringComparer.Ordinal)
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
    private static readonly HashSet<string> ReservedWords = new(StringComparer.Ordinal)
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

    private readonly TokenCursor _cursor;
    private readonly OperatorParser _operators;
    private bool _isInFunction;

    /// <summary>Begins a text.</summary>
    /// <param name="text">The text.</param>
    /// <param name="offset">Where it begins in the script that it is a part of.</param>
    /// <exception cref="ScriptException">It holds what is no token.</exception>
    public JavaScriptParser(string text, int offset = 0)
    {
        _cursor = new TokenCursor(new Lexer(text, isLinq: false).ReadAll(offset));
        _operators = new OperatorParser(_cursor, OwnOperators, ParseUnary, ParseOperation);
    }

    /// <summary>Whether nothing is left.</summary>
    public bool IsAtEnd => _cursor.Current.Kind == TokenKind.End;

    /// <summary>The tokens, for who reads a frame around expressions.</summary>
    public TokenCursor Cursor => _cursor;

    /// <summary>Refuses what is left.</summary>
    public void ExpectEnd()
    {
        if (!IsAtEnd)
        {
            throw _cursor.Unexpected("the end");
        }
    }

    /// <summary>Parses an expression, assignments among them.</summary>
    public Expression ParseExpression()
    {
        _cursor.Enter();
        Expression result;
        if (IsLambda())
        {
            result = ParseLambda();
        }
        else
        {
            result = ParseConditional();
            var mark = _cursor.Current;
            if (mark.Kind == TokenKind.Mark && mark.Text.EndsWith('=') && !_operators.IsOperator(mark.Text))
            {
                result = ParseAssignment(result, mark);
            }
        }

        _cursor.Leave();
        return result;
    }

    /// <summary>Parses an expression where JavaScript takes several, of which the last has the value.</summary>
    private Expression ParseSequence()
    {
        var expression = ParseExpression();
        return _cursor.Current.Is(",")
            ? throw TokenCursor.NotSupported("the comma operator", _cursor.Current.Position)
            : expression;
    }

    private AssignmentExpression ParseAssignment(Expression target, Token mark)
    {
        Opcode? compound = mark.Text switch
        {
            "=" => null,
            "+=" => Opcode.Add,
            "-=" => Opcode.Subtract,
            "*=" => Opcode.Multiply,
            "/=" => Opcode.Divide,
            "%=" => Opcode.Remainder,
            _ => throw TokenCursor.NotSupported($"the operator {mark.Quoted}", mark.Position),
        };
        RequireTarget(target, mark);
        _cursor.Take();
        return new AssignmentExpression(target, compound, ParseExpression(), mark.Position);
    }

    private static void RequireTarget(Expression target, Token mark)
    {
        if (target is ArrayLiteral or ObjectLiteral)
        {
            throw TokenCursor.NotSupported("destructuring", target.Position);
        }

        if (target is not (NameExpression { Name: not "this" } or MemberExpression or ElementExpression))
        {
            throw new ScriptException(
                ScriptFault.Syntax,
                $"What stands before or behind {mark.Quoted} cannot be assigned to",
                target.Position
            );
        }
    }

    private Expression ParseConditional()
    {
        var condition = _operators.Parse();
        if (!_cursor.Current.Is("?"))
        {
            return condition;
        }

        int at = _cursor.Take().Position;
        var then = ParseExpression();
        _cursor.Expect(":");
        return new ConditionalExpression(condition, then, ParseExpression(), at);
    }

    private Expression ParseOperation(Expression left, Token mark, int precedence)
    {
        if (!Operators.TryGetValue(mark.Text, out var operation))
        {
            throw TokenCursor.NotSupported($"the operator {mark.Quoted}", mark.Position);
        }

        _cursor.Take();
        var right = _operators.Parse(precedence);
        return operation is Opcode.JumpKeepingValue or Opcode.JumpKeepingTrue or Opcode.JumpKeepingFalse
            ? new LogicalExpression(operation, left, right, mark.Position)
            : new BinaryExpression(operation, left, right, mark.Position);
    }

    private Expression ParseUnary()
    {
        _cursor.Enter();
        var token = _cursor.Current;
        var result = token.Kind switch
        {
            TokenKind.Mark => ParseUnaryMark(token),
            TokenKind.Name when token.Text is "typeof" => new UnaryExpression(
                Opcode.TypeOf,
                ParseOperand(),
                token.Position
            ),
            TokenKind.Name when token.Text is "delete" => ParseDelete(),
            _ => ParsePostfix(),
        };
        _cursor.Leave();
        return result;
    }

    private Expression ParseUnaryMark(Token token)
    {
        switch (token.Text)
        {
            case "!":
                return new UnaryExpression(Opcode.Not, ParseOperand(), token.Position);
            case "-":
                var operand = ParseOperand();
                return operand is NumberLiteral number
                    ? number with
                    {
                        Value = -number.Value,
                    }
                    : new UnaryExpression(Opcode.Negate, operand, token.Position);
            case "+":
                return new UnaryExpression(Opcode.ToNumber, ParseOperand(), token.Position);
            case "++" or "--":
                var target = ParseOperand();
                RequireTarget(target, token);
                return new UpdateExpression(
                    target,
                    token.Text is "++" ? Opcode.Add : Opcode.Subtract,
                    IsPrefix: true,
                    token.Position
                );
            case "~":
                throw TokenCursor.NotSupported("the operator '~'", token.Position);
            default:
                return ParsePostfix();
        }
    }

    /// <summary>Reads what follows an operator.</summary>
    private Expression ParseOperand()
    {
        _cursor.Take();
        return ParseUnary();
    }

    private DeleteExpression ParseDelete()
    {
        int at = _cursor.Current.Position;
        var target = ParseOperand();
        return target is MemberExpression or ElementExpression
            ? new DeleteExpression(target, at)
            : throw TokenCursor.NotSupported("'delete' of what is no member", at);
    }

    private Expression ParsePostfix()
    {
        var value = ParsePrimary();
        bool isOptional = false;
        while (true)
        {
            var token = _cursor.Current;
            if (token.Kind == TokenKind.Template)
            {
                throw TokenCursor.NotSupported("tagged templates", token.Position);
            }

            if (token.Kind != TokenKind.Mark)
            {
                return value;
            }

            switch (token.Text)
            {
                case "." or "?.":
                    isOptional |= token.Text is "?.";
                    _cursor.Take();
                    value =
                        token.Text is "?." && _cursor.Current.Is("[") ? ParseElement(value)
                        : token.Text is "?." && _cursor.Current.Is("(")
                            ? throw TokenCursor.NotSupported("calls by '?.('", token.Position)
                        : new MemberExpression(value, _cursor.ExpectName().Text, token.Position)
                        {
                            IsOptional = isOptional,
                        };
                    break;
                case "[":
                    value = ParseElement(value);
                    break;
                case "(":
                    value = new CallExpression(value, ParseArguments(), token.Position);
                    break;
                case "++" or "--" when !token.IsAfterNewLine:
                    RequireTarget(value, token);
                    _cursor.Take();
                    return new UpdateExpression(
                        value,
                        token.Text is "++" ? Opcode.Add : Opcode.Subtract,
                        IsPrefix: false,
                        token.Position
                    );
                default:
                    return value;
            }
        }
    }

    private Expression ParseElement(Expression target)
    {
        int at = _cursor.Expect("[").Position;
        var index = ParseSequence();
        _cursor.Expect("]");
        return index is TextLiteral name
            ? new MemberExpression(target, name.Text, at)
            : new ElementExpression(target, index, at);
    }

    private List<Expression> ParseArguments()
    {
        _cursor.Expect("(");
        var arguments = new List<Expression>();
        while (!_cursor.TryTake(")"))
        {
            if (_cursor.Current.Is("..."))
            {
                throw TokenCursor.NotSupported("spread arguments", _cursor.Current.Position);
            }

            arguments.Add(ParseExpression());
            if (!_cursor.Current.Is(")"))
            {
                _cursor.Expect(",");
            }
        }

        return arguments;
    }
}
