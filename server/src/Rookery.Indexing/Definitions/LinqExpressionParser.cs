using Rookery.Scripting.Compiling;
using Rookery.Scripting.Syntax;

namespace Rookery.Indexing.Definitions;

/// <summary>Parses operators, member accesses and calls of C# in index texts, by operator precedence.</summary>
internal sealed class LinqExpressionParser(LinqParser parser)
{
    private static readonly Dictionary<string, ScriptFunction> Operators = new(StringComparer.Ordinal)
    {
        ["=="] = ScriptFunction.IsSame,
        ["!="] = ScriptFunction.IsSame,
        ["<"] = ScriptFunction.IsLess,
        ["<="] = ScriptFunction.IsLessOrEqual,
        [">"] = ScriptFunction.IsGreater,
        [">="] = ScriptFunction.IsGreaterOrEqual,
        ["+"] = ScriptFunction.Plus,
        ["-"] = ScriptFunction.Minus,
        ["*"] = ScriptFunction.Times,
        ["/"] = ScriptFunction.DividedBy,
        ["%"] = ScriptFunction.Modulo,
    };

    // The concatenations read so far. The value of a concatenation is never null.
    private readonly HashSet<Expression> _joined = new(ReferenceEqualityComparer.Instance);

    // Number of method calls read so far.
    private int _calls;

    public Expression ParseExpression()
    {
        parser.Cursor.EnterLevel();
        var result = parser.Lambdas.IsLambda()
            ? throw TokenCursor.NotSupported(
                "functions as values, except as arguments of methods of sequences",
                parser.Cursor.Current.Position
            )
            : ParseConditional();
        if (
            parser.Cursor.Current.Kind == TokenKind.Punctuator
            && parser.Cursor.Current.Text.EndsWith('=')
            && !parser.Operators.IsOperator(parser.Cursor.Current.Text)
        )
        {
            throw TokenCursor.NotSupported("assignments", parser.Cursor.Current.Position);
        }

        parser.Cursor.LeaveLevel();
        return result;
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
        var choice = new ConditionalExpression(LinqMethods.ToCondition(condition), then, ParseExpression(), at);
        return parser.Shapes.Types.Numbers.Unify(choice);
    }

    /// <summary>Parses an operator, which is the current token, and its right operand.</summary>
    /// <param name="left">The left operand.</param>
    /// <param name="operatorToken">The operator.</param>
    /// <param name="precedence">The precedence of the operator (<see cref="OperatorParser"/>).</param>
    public Expression ParseOperation(Expression left, Token operatorToken, int precedence)
    {
        if (operatorToken.Text is "is")
        {
            return ParseIsNull(left);
        }

        Opcode? keep = operatorToken.Text switch
        {
            "??" => Opcode.JumpKeepingValue,
            "||" => Opcode.JumpKeepingTrue,
            "&&" => Opcode.JumpKeepingFalse,
            _ => null,
        };
        if (keep is null && !Operators.ContainsKey(operatorToken.Text))
        {
            throw TokenCursor.NotSupported($"the operator {operatorToken.Quoted}", operatorToken.Position);
        }

        parser.Cursor.Take();
        var right = parser.Operators.Parse(precedence);
        return keep switch
        {
            null => ToOperation(operatorToken, left, right),
            Opcode.JumpKeepingValue => parser.Shapes.Types.Numbers.Unify(
                new LogicalExpression(Opcode.JumpKeepingValue, left, right, operatorToken.Position)
            ),
            { } jump => new LogicalExpression(
                jump,
                LinqMethods.ToCondition(left),
                LinqMethods.ToCondition(right),
                operatorToken.Position
            ),
        };
    }

    /// <summary>
    /// Parses <c>is null</c> and <c>is not null</c>. Other patterns need static types, which the values of documents do
    /// not have.
    /// </summary>
    private Expression ParseIsNull(Expression value)
    {
        var operatorToken = parser.Cursor.Take();
        bool isNot = parser.Cursor.TryTakeWord("not");
        var pattern = parser.Cursor.Current;
        if (
            !parser.Cursor.TryTakeWord("null")
            || parser.Cursor.Current.IsWord("or")
            || parser.Cursor.Current.IsWord("and")
        )
        {
            throw TokenCursor.NotSupported(
                "the operator 'is' with other than 'null' and 'not null'",
                operatorToken.Position
            );
        }

        var isNull = new InvokeExpression(
            ScriptFunction.IsSame,
            [value, new WordLiteral(Opcode.PushNull, pattern.Position)],
            operatorToken.Position
        );
        return isNot ? new UnaryExpression(Opcode.Not, isNull, operatorToken.Position) : isNull;
    }

    private Expression ToOperation(Token operatorToken, Expression left, Expression right)
    {
        if (operatorToken.Text is "==" or "!=" && (IsBoxed(left, right) || IsBoxed(right, left)))
        {
            throw TokenCursor.NotSupported(
                $"{operatorToken.Quoted} of a value that is cast to 'object', which C# compares by reference",
                operatorToken.Position
            );
        }

        if (LinqConstants.Fold(operatorToken, left, right) is { } folded)
        {
            return folded;
        }

        if (operatorToken.Text is "+" && (IsText(left) || IsText(right)))
        {
            return Join(left, right, operatorToken.Position);
        }

        var operation = new InvokeExpression(Operators[operatorToken.Text], [left, right], operatorToken.Position);
        return operatorToken.Text is "!="
            ? new UnaryExpression(Opcode.Not, operation, operatorToken.Position)
            : operation;
    }

    // A comparison with null means the same with and without the cast, so it is accepted.
    private bool IsBoxed(Expression value, Expression other) =>
        parser.Shapes.Types.IsBoxed(value) && other is not WordLiteral { Push: Opcode.PushNull };

    /// <summary>
    /// Returns the concatenation of two values, of which one is a string or null. C# reads null as an empty string. If
    /// both values may be null when the script runs, an empty string is put before them, so that the result is a
    /// string.
    /// </summary>
    private InvokeExpression Join(Expression left, Expression right, int position)
    {
        bool isText = left is TextLiteral || right is TextLiteral || _joined.Contains(left) || _joined.Contains(right);
        var first = isText
            ? left
            : new InvokeExpression(ScriptFunction.Plus, [new TextLiteral("", position), left], position);
        var joined = new InvokeExpression(ScriptFunction.Plus, [first, right], position);
        _joined.Add(joined);
        return joined;
    }

    /// <summary>Returns whether the text shows that a value is a string or null.</summary>
    private bool IsText(Expression value) =>
        value switch
        {
            // A chain of operators may be long, so whether it joins texts is decided once, when it is built.
            InvokeExpression { Function: >= ScriptFunction.Plus and <= ScriptFunction.Modulo } => _joined.Contains(
                value
            ),
            NumberLiteral or UnaryExpression => false,
            _ => parser.Shapes.Types.IsText(value),
        };

    /// <summary>Parses an operand, with the signs, negations and casts before it.</summary>
    public Expression ParseUnary()
    {
        parser.Cursor.EnterLevel();
        var token = parser.Cursor.Current;
        Expression result;
        if (token.Is("!"))
        {
            parser.Cursor.Take();
            result = new UnaryExpression(Opcode.Not, LinqMethods.ToCondition(ParseUnary()), token.Position);
        }
        else if (token.Is("-"))
        {
            parser.Cursor.Take();
            result = LinqConstants.MinOf(parser.Cursor.Current) is { } min
                ? ReplaceToken(min)
                : LinqConstants.Negate(ParseUnary(), token.Position);
        }
        else if (token.Is("+"))
        {
            parser.Cursor.Take();
            result = LinqConstants.ApplyPlus(ParseUnary(), token.Position);
        }
        else if (token.Is("^"))
        {
            throw TokenCursor.NotSupported("an index from the end", token.Position);
        }
        else if (token.Is("++") || token.Is("--") || token.Is("~"))
        {
            throw TokenCursor.NotSupported($"the operator {token.Quoted}", token.Position);
        }
        else
        {
            result = parser.Types.TryParseCast(out var type) ? ParseCastValue(type, token.Position) : ParsePostfix();
        }

        parser.Cursor.LeaveLevel();
        return result;
    }

    private Expression ParseCastValue(LinqTypeParser.TypeName type, int position)
    {
        var value = LinqTypeParser.ToCast(type, ParseUnary(), position);
        if (type is { Name: "object" or "Object", IsArray: false })
        {
            parser.Shapes.Types.RecordBoxed(value);
        }

        return value;
    }

    // Skips the current token, which the literal replaces.
    private NumberLiteral ReplaceToken(NumberLiteral literal)
    {
        parser.Cursor.Take();
        return literal;
    }

    private Expression ParsePostfix()
    {
        var skipping = new Stack<(Expression Target, int Calls)>();
        var value = ParseChain(skipping);

        // A member of null is null anyway. So ?. needs a test of its target only if calls follow.
        while (skipping.TryPop(out var skip))
        {
            if (_calls > skip.Calls)
            {
                int at = skip.Target.Position;
                var none = new WordLiteral(Opcode.PushNull, at);
                var isNothing = new InvokeExpression(ScriptFunction.IsSame, [skip.Target, none], at);
                value = new ConditionalExpression(isNothing, none, value, at)
                {
                    Shared = skip.Target is NameExpression ? null : skip.Target,
                };
            }
        }

        return value;
    }

    /// <summary>Parses a value and the members, elements and calls after it.</summary>
    /// <param name="skipping">Receives the target of each <c>?.</c>, with the number of calls read so far.</param>
    private Expression ParseChain(Stack<(Expression Target, int Calls)> skipping)
    {
        var value = parser.Primaries.ParsePrimary();
        while (parser.Cursor.Current.Kind == TokenKind.Punctuator)
        {
            var token = parser.Cursor.Current;
            switch (token.Text)
            {
                case "!":
                    parser.Cursor.Take();
                    break;
                case "." when parser.Cursor.Ahead(1).Kind != TokenKind.Name:
                    throw TokenCursor.NotSupported("ranges, and anything but a member after '.',", token.Position);
                case "." or "?.":
                    parser.Cursor.Take();
                    if (token.Text is "?.")
                    {
                        skipping.Push((value, _calls));
                    }

                    value = parser.Cursor.Current.Is("[") ? ParseElement(value) : ParseMember(value);
                    break;
                case "?" when parser.Cursor.Ahead(1).Is("[") && parser.Cursor.Ahead(1).Position == token.Position + 1:
                    parser.Cursor.Take();
                    skipping.Push((value, _calls));
                    value = ParseElement(value);
                    break;
                case "[":
                    value = ParseElement(value);
                    break;
                case "(":
                    throw TokenCursor.NotSupported("calls of anything but a name", token.Position);
                case "++" or "--":
                    throw TokenCursor.NotSupported($"the operator {token.Quoted}", token.Position);
                default:
                    return value;
            }
        }

        return value;
    }

    private Expression ParseMember(Expression target)
    {
        var name = parser.Cursor.ExpectName();
        parser.Types.SkipTypeArguments();
        if (
            name.Text is "Count" or "Length"
            && !parser.Cursor.Current.Is("(")
            && parser.Shapes.IsRows(parser.Shapes.ToSequence(target))
        )
        {
            throw OneRowCheck.CountError(name.Text, name.Position);
        }

        if (parser.Cursor.Current.Is("("))
        {
            target = parser.Shapes.ToSequence(target);
            parser.Shapes.Types.RequireMethod(target, name);
            _calls++;
            return ToCall(target, name, ParseArguments(parser.Shapes.Types.ElementOf(target), name.Text));
        }

        if (parser.Shapes.IsGroup(target) && name.Text is "Key")
        {
            return new MemberExpression(target, "key", name.Position);
        }

        parser.Shapes.Types.RequireMember(parser.Shapes.ToSequence(target), name);
        return parser.Shapes.Record(
            LinqMethods.ToMember(parser.Shapes.ToSequence(target), name, parser.Shapes.IsRow(target)),
            target,
            name.Text
        );
    }

    public Expression ToCall(Expression target, Token method, List<Expression> arguments) =>
        method.Text is "Count" or "LongCount" or "Average" && parser.Shapes.IsRows(target)
            ? throw OneRowCheck.CountError(method.Text, method.Position)
            : ToTypedCall(target, method, arguments);

    /// <summary>Translates a method call. Elements of known type are converted as in C#.</summary>
    private Expression ToTypedCall(Expression target, Token method, List<Expression> arguments)
    {
        if (
            method.Text is "Equals" or "CompareTo"
            && (parser.Shapes.Types.IsBoxed(target) || arguments.Any(parser.Shapes.Types.IsBoxed))
        )
        {
            throw TokenCursor.NotSupported(
                $"'{method.Text}' with a value that is cast to 'object': leave out the cast",
                method.Position
            );
        }

        var elements = parser.Shapes.Types.Elements;
        var call = LinqMethods.ToCall(target, method, elements.Convert(target, method, arguments));
        return parser.Shapes.IsRows(target) ? call : elements.WithDefault(call);
    }

    private InvokeExpression ParseElement(Expression target)
    {
        int at = parser.Cursor.Expect("[").Position;
        target = parser.Shapes.ToSequence(target);
        var index = ParseExpression();
        parser.Cursor.Expect("]");
        return new InvokeExpression(ScriptFunction.ElementAt, [target, index], at);
    }

    /// <summary>Parses the arguments of a call.</summary>
    /// <param name="element">
    /// The known element type of the sequence whose method is called; null if unknown.
    /// </param>
    /// <param name="method">The method; null if none is called.</param>
    public List<Expression> ParseArguments(LinqType? element = null, string? method = null)
    {
        parser.Cursor.Expect("(");
        var arguments = new List<Expression>();
        while (!parser.Cursor.TryTake(")"))
        {
            var first = element;
            var second = method is "Select" or "Where" ? LinqType.Int : null;
            if (method is "Aggregate")
            {
                first = arguments is [var seed] ? parser.Shapes.Types.Of(seed) : element;
                second = element;
            }

            arguments.Add(ParseArgument(first, second));
            if (!parser.Cursor.Current.Is(")"))
            {
                parser.Cursor.Expect(",");
            }
        }

        return arguments;
    }

    /// <summary>Parses an argument.</summary>
    /// <param name="first">The known type of the first parameter if the argument is a lambda; null if unknown.</param>
    /// <param name="second">The known type of the second parameter; null if unknown.</param>
    private Expression ParseArgument(LinqType? first, LinqType? second)
    {
        if (parser.Cursor.Current.Kind == TokenKind.Name && parser.Cursor.Ahead(1).Is(":"))
        {
            throw TokenCursor.NotSupported("arguments by name", parser.Cursor.Current.Position);
        }

        parser.Cursor.EnterLevel();
        int mark = parser.Cursor.Mark;
        bool isCast = parser.Types.TryParseCast(out var type) && type.Name is "Func";
        if (!isCast)
        {
            parser.Cursor.Reset(mark);
        }

        Expression result;
        if (isCast && parser.Cursor.TryTake("("))
        {
            result = ParseArgument(first, second);
            parser.Cursor.Expect(")");
        }
        else
        {
            result = parser.Lambdas.IsLambda()
                ? parser.Lambdas.ParseLambda(first, second)
                : parser.Shapes.ToSequence(ParseExpression());
        }

        parser.Cursor.LeaveLevel();
        return result;
    }
}
