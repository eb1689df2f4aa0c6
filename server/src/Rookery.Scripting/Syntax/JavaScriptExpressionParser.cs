using Rookery.Scripting.Compiling;

namespace Rookery.Scripting.Syntax;

/// <summary>Parses operators, member accesses and calls of scripts, by operator precedence.</summary>
internal sealed class JavaScriptExpressionParser(JavaScriptParser parser)
{
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
        ["&"] = Opcode.BitwiseAnd,
        ["|"] = Opcode.BitwiseOr,
        ["^"] = Opcode.BitwiseXor,
        ["<<"] = Opcode.ShiftLeft,
        [">>"] = Opcode.ShiftRight,
        [">>>"] = Opcode.ShiftRightUnsigned,
        ["in"] = Opcode.In,
    };

    /// <summary>Parses an expression, which may be an assignment.</summary>
    public Expression ParseExpression()
    {
        parser.Cursor.EnterLevel();
        Expression result;
        if (parser.Functions.IsLambda())
        {
            result = parser.Functions.ParseLambda();
        }
        else
        {
            result = ParseConditional();
            var operatorToken = parser.Cursor.Current;
            if (
                operatorToken.Kind == TokenKind.Punctuator
                && operatorToken.Text.EndsWith('=')
                && !parser.Operators.IsOperator(operatorToken.Text)
            )
            {
                result = ParseAssignment(result, operatorToken);
            }
        }

        parser.Cursor.LeaveLevel();
        return result;
    }

    /// <summary>Parses an expression, or several with commas between them.</summary>
    public Expression ParseSequence()
    {
        var first = ParseExpression();
        if (!parser.Cursor.Current.Is(","))
        {
            return first;
        }

        var parts = new List<Expression> { first };
        while (parser.Cursor.TryTake(","))
        {
            parts.Add(ParseExpression());
        }

        return new SequenceExpression(parts, first.Position);
    }

    private AssignmentExpression ParseAssignment(Expression target, Token operatorToken)
    {
        Opcode? compound =
            operatorToken.Text is "=" ? null
            : Operators.TryGetValue(operatorToken.Text[..^1], out var operation) ? operation
            : throw TokenCursor.NotSupported($"the operator {operatorToken.Quoted}", operatorToken.Position);
        RequireTarget(target, operatorToken);
        parser.Cursor.Take();
        CountResize(target);
        return new AssignmentExpression(target, compound, ParseExpression(), operatorToken.Position);
    }

    /// <summary>Counts an assignment that may append to an array.</summary>
    private void CountResize(Expression target)
    {
        if (target is ElementExpression || (target is MemberExpression { Name: [>= '0' and <= '9', ..] }))
        {
            parser.Resizes++;
        }
    }

    private static void RequireTarget(Expression target, Token operatorToken)
    {
        if (
            target
            is MemberExpression { IsInOptionalChain: true }
                or MemberExpression { FollowsOptionalDot: true }
                or ElementExpression { FollowsOptionalDot: true }
        )
        {
            throw TokenCursor.NotSupported("an assignment after '?.'", target.Position);
        }

        if (target is ArrayLiteral or ObjectLiteral)
        {
            throw TokenCursor.NotSupported("destructuring", target.Position);
        }

        if (target is not (NameExpression { Name: not "this" } or MemberExpression or ElementExpression))
        {
            throw new ScriptException(
                ScriptFault.Syntax,
                $"The operand of {operatorToken.Quoted} cannot be assigned to",
                target.Position
            );
        }
    }

    private Expression ParseConditional()
    {
        var condition = parser.Operators.Parse();
        if (!parser.Cursor.Current.Is("?"))
        {
            return condition;
        }

        int at = parser.Cursor.Take().Position;
        var then = ParseExpression();
        parser.Cursor.Expect(":");
        return new ConditionalExpression(condition, then, ParseExpression(), at);
    }

    public Expression ParseOperation(Expression left, Token operatorToken, int precedence)
    {
        if (operatorToken.Text is "**")
        {
            return ParsePower(left, operatorToken, precedence);
        }

        if (!Operators.TryGetValue(operatorToken.Text, out var operation))
        {
            throw TokenCursor.NotSupported($"the operator {operatorToken.Quoted}", operatorToken.Position);
        }

        parser.Cursor.Take();
        var right = parser.Operators.Parse(precedence);
        if (operation is Opcode.JumpKeepingValue && (IsOpenLogic(left) || IsOpenLogic(right)))
        {
            throw new ScriptException(
                ScriptFault.Syntax,
                "'??' stands beside '||' or '&&': put one of them in brackets",
                operatorToken.Position
            );
        }

        return operation is Opcode.JumpKeepingValue or Opcode.JumpKeepingTrue or Opcode.JumpKeepingFalse
            ? new LogicalExpression(operation, left, right, operatorToken.Position)
            : new BinaryExpression(operation, left, right, operatorToken.Position);
    }

    // Unlike other operators, powers group to the right: 2 ** 3 ** 2 is 2 ** 9.
    private InvokeExpression ParsePower(Expression left, Token operatorToken, int precedence)
    {
        // JavaScript does not say which of both signs comes first in -2 ** 2.
        bool isOpen = left is UnaryExpression or DeleteExpression or NumberLiteral { Value: < 0 };
        if (isOpen && !parser.Primaries.IsInBrackets(left))
        {
            throw new ScriptException(
                ScriptFault.Syntax,
                "The left operand of '**' has a sign or another operator: put it in brackets",
                left.Position
            );
        }

        parser.Cursor.Take();
        var right = parser.Operators.Parse(precedence - 1);
        return new InvokeExpression(ScriptFunction.RaiseToPower, [left, right], operatorToken.Position);
    }

    // Whether this is '||' or '&&' without brackets, which JavaScript does not allow beside '??'.
    private bool IsOpenLogic(Expression operand) =>
        operand is LogicalExpression { Keep: Opcode.JumpKeepingTrue or Opcode.JumpKeepingFalse }
        && !parser.Primaries.IsInBrackets(operand);

    public Expression ParseUnary()
    {
        parser.Cursor.EnterLevel();
        var token = parser.Cursor.Current;
        var result = token.Kind switch
        {
            TokenKind.Punctuator => ParseUnaryPunctuator(token),
            TokenKind.Name when token.Text is "typeof" => new UnaryExpression(
                Opcode.TypeOf,
                ParseOperand(),
                token.Position
            ),
            TokenKind.Name when token.Text is "delete" => ParseDelete(),
            _ => ParsePostfix(),
        };
        parser.Cursor.LeaveLevel();
        return result;
    }

    private Expression ParseUnaryPunctuator(Token token)
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
                CountResize(target);
                return new UpdateExpression(
                    target,
                    token.Text is "++" ? Opcode.Add : Opcode.Subtract,
                    IsPrefix: true,
                    token.Position
                );
            case "~":
                return new UnaryExpression(Opcode.BitwiseNot, ParseOperand(), token.Position);
            default:
                return ParsePostfix();
        }
    }

    /// <summary>Parses the operand of a prefix operator.</summary>
    private Expression ParseOperand()
    {
        parser.Cursor.Take();
        return ParseUnary();
    }

    private DeleteExpression ParseDelete()
    {
        int at = parser.Cursor.Current.Position;
        var target = ParseOperand();
        return target is MemberExpression or ElementExpression
            ? new DeleteExpression(target, at)
            : throw TokenCursor.NotSupported("'delete' of anything but a member", at);
    }

    private Expression ParsePostfix()
    {
        var value = parser.Primaries.ParsePrimary();
        bool isInOptionalChain = false;
        while (true)
        {
            var token = parser.Cursor.Current;
            if (token.Kind == TokenKind.Template)
            {
                throw TokenCursor.NotSupported("tagged templates", token.Position);
            }

            if (token.Kind != TokenKind.Punctuator)
            {
                return value;
            }

            switch (token.Text)
            {
                case "." or "?.":
                    isInOptionalChain |= token.Text is "?.";
                    parser.Cursor.Take();
                    value = ParseMember(value, token, isInOptionalChain);
                    break;
                case "[":
                    value = ParseElement(value);
                    break;
                case "(":
                    if (MayResize(value))
                    {
                        parser.Resizes++;
                    }
                    value = new CallExpression(value, ParseArguments(), token.Position);
                    break;
                case "++" or "--" when !token.IsAfterNewLine:
                    RequireTarget(value, token);
                    CountResize(value);
                    parser.Cursor.Take();
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

    /// <summary>Parses what follows <c>.</c> or <c>?.</c>.</summary>
    private Expression ParseMember(Expression target, Token dot, bool isInOptionalChain)
    {
        bool followsOptionalDot = dot.Text is "?.";
        if (followsOptionalDot && parser.Cursor.Current.Is("["))
        {
            return ParseElement(target, followsOptionalDot: true);
        }

        if (followsOptionalDot && parser.Cursor.Current.Is("("))
        {
            throw TokenCursor.NotSupported("calls by '?.('", dot.Position);
        }

        return new MemberExpression(target, parser.Cursor.ExpectName().Text, dot.Position)
        {
            IsInOptionalChain = isInOptionalChain,
            FollowsOptionalDot = followsOptionalDot,
        };
    }

    // A call of a function of the script counts, too, because the function may resize an array.
    private static bool MayResize(Expression callee) =>
        callee is MemberExpression { Name: "push" or "pop" or "shift" or "unshift" or "splice" }
        || (callee is NameExpression name && !FunctionCatalogue.TryFindFunction(name.Name, out _));

    private Expression ParseElement(Expression target, bool followsOptionalDot = false)
    {
        int at = parser.Cursor.Expect("[").Position;
        var index = ParseSequence();
        parser.Cursor.Expect("]");
        return index is TextLiteral name
            ? new MemberExpression(target, name.Text, at) { FollowsOptionalDot = followsOptionalDot }
            : new ElementExpression(target, index, at) { FollowsOptionalDot = followsOptionalDot };
    }

    /// <summary>Parses <c>(a, b)</c>.</summary>
    public List<Expression> ParseArguments()
    {
        parser.Cursor.Expect("(");
        var arguments = new List<Expression>();
        while (!parser.Cursor.TryTake(")"))
        {
            if (parser.Cursor.Current.Is("..."))
            {
                throw TokenCursor.NotSupported("spread arguments", parser.Cursor.Current.Position);
            }

            arguments.Add(ParseExpression());
            if (!parser.Cursor.Current.Is(")"))
            {
                parser.Cursor.Expect(",");
            }
        }

        return arguments;
    }
}
