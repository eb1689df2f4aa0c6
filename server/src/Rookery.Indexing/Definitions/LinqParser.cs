using Rookery.Scripting.Compiling;
using Rookery.Scripting.Syntax;

namespace Rookery.Indexing.Definitions;

/// <summary>
/// Parses the part of C# that definitions of indexes may use into the expressions and statements of scripts; what is
/// outside is refused by its name. Of nothing, members and arithmetic are nothing and comparisons false, as in
/// RavenDB's indexes. Here expressions, by precedence.
/// </summary>
internal sealed partial class LinqParser
{
    private static readonly Dictionary<string, int> OwnOperators = new(StringComparer.Ordinal)
    {
        ["is"] = OperatorParser.Relation,
        ["as"] = OperatorParser.Relation,
        ["switch"] = OperatorParser.Tightest,
        ["with"] = OperatorParser.Tightest,
    };

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

    private readonly TokenCursor _cursor;
    private readonly OperatorParser _operators;

    /// <summary>What is known of variables: which of them are, or hold, groups of rows.</summary>
    private readonly LinqShapes _shapes;

    /// <summary>Begins a text.</summary>
    /// <param name="text">The text.</param>
    /// <param name="offset">Where it begins in the text that it is a part of.</param>
    /// <exception cref="ScriptException">It holds what is no token.</exception>
    public LinqParser(string text, int offset = 0)
        : this(text, offset, new LinqShapes()) { }

    private LinqParser(string text, int offset, LinqShapes shapes)
    {
        _cursor = new TokenCursor(new Lexer(text, isLinq: true).ReadAll(offset));
        _operators = new OperatorParser(_cursor, OwnOperators, ParseUnary, ParseOperation);
        _shapes = shapes;
    }

    private Expression ParseExpression()
    {
        _cursor.Enter();
        var result = IsLambda()
            ? throw TokenCursor.NotSupported(
                "functions as values, except as arguments of methods of sequences",
                _cursor.Current.Position
            )
            : ParseConditional();
        if (
            _cursor.Current.Kind == TokenKind.Mark
            && _cursor.Current.Text.EndsWith('=')
            && !_operators.IsOperator(_cursor.Current.Text)
        )
        {
            throw TokenCursor.NotSupported("assignments", _cursor.Current.Position);
        }

        _cursor.Leave();
        return result;
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
        var choice = new ConditionalExpression(LinqMethods.ToCondition(condition), then, ParseExpression(), at);
        return LinqNumbers.Unified(choice);
    }

    private Expression ParseOperation(Expression left, Token mark, int precedence)
    {
        if (mark.Text is "is")
        {
            return ParseIsNull(left);
        }

        Opcode? keep = mark.Text switch
        {
            "??" => Opcode.JumpKeepingValue,
            "||" => Opcode.JumpKeepingTrue,
            "&&" => Opcode.JumpKeepingFalse,
            _ => null,
        };
        if (keep is null && !Operators.ContainsKey(mark.Text))
        {
            throw TokenCursor.NotSupported($"the operator {mark.Quoted}", mark.Position);
        }

        _cursor.Take();
        var right = _operators.Parse(precedence);
        return keep switch
        {
            null => ToOperation(mark, left, right),
            Opcode.JumpKeepingValue => LinqNumbers.Unified(
                new LogicalExpression(Opcode.JumpKeepingValue, left, right, mark.Position)
            ),
            { } jump => new LogicalExpression(
                jump,
                LinqMethods.ToCondition(left),
                LinqMethods.ToCondition(right),
                mark.Position
            ),
        };
    }

    /// <summary>
    /// Parses <c>is null</c> and <c>is not null</c>: other patterns need types, which values have not.
    /// </summary>
    private Expression ParseIsNull(Expression value)
    {
        var mark = _cursor.Take();
        bool isNot = _cursor.TryTakeWord("not");
        var pattern = _cursor.Current;
        if (!_cursor.TryTakeWord("null") || _cursor.Current.IsWord("or") || _cursor.Current.IsWord("and"))
        {
            throw TokenCursor.NotSupported("the operator 'is' with other than 'null' and 'not null'", mark.Position);
        }

        var isNull = new InvokeExpression(
            ScriptFunction.IsSame,
            [value, new WordLiteral(Opcode.PushNull, pattern.Position)],
            mark.Position
        );
        return isNot ? new UnaryExpression(Opcode.Not, isNull, mark.Position) : isNull;
    }

    private static Expression ToOperation(Token mark, Expression left, Expression right)
    {
        if (LinqConstants.Folded(mark, left, right) is { } folded)
        {
            return folded;
        }

        var operation = new InvokeExpression(Operators[mark.Text], [left, right], mark.Position);
        return mark.Text is "!=" ? new UnaryExpression(Opcode.Not, operation, mark.Position) : operation;
    }

    private Expression ParseUnary()
    {
        _cursor.Enter();
        var token = _cursor.Current;
        Expression result;
        if (token.Is("!"))
        {
            _cursor.Take();
            result = new UnaryExpression(Opcode.Not, LinqMethods.ToCondition(ParseUnary()), token.Position);
        }
        else if (token.Is("-"))
        {
            _cursor.Take();
            result = LinqConstants.LeastOf(_cursor.Current) is { } least
                ? TakeWith(least)
                : LinqConstants.Negated(ParseUnary(), token.Position);
        }
        else if (token.Is("+"))
        {
            _cursor.Take();
            result = LinqConstants.Positive(ParseUnary(), token.Position);
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
            result = TryParseCast(out var type) ? ToCast(type, ParseUnary(), token.Position) : ParsePostfix();
        }

        _cursor.Leave();
        return result;
    }

    private NumberLiteral TakeWith(NumberLiteral literal)
    {
        _cursor.Take();
        return literal;
    }

    private Expression ParsePostfix()
    {
        var value = ParsePrimary();
        while (_cursor.Current.Kind == TokenKind.Mark)
        {
            var token = _cursor.Current;
            switch (token.Text)
            {
                case "!":
                    _cursor.Take();
                    break;
                case "." when _cursor.Ahead(1).Kind != TokenKind.Name:
                    throw TokenCursor.NotSupported("ranges, and what is no member,", token.Position);
                case "." or "?.":
                    _cursor.Take();
                    value = _cursor.Current.Is("[") ? ParseElement(value) : ParseMember(value);
                    break;
                case "?" when _cursor.Ahead(1).Is("[") && _cursor.Ahead(1).Position == token.Position + 1:
                    _cursor.Take();
                    value = ParseElement(value);
                    break;
                case "[":
                    value = ParseElement(value);
                    break;
                case "(":
                    throw TokenCursor.NotSupported("calls of what is no name", token.Position);
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
        var name = _cursor.ExpectName();
        SkipTypeArguments();
        if (name.Text is "Count" or "Length" && !_cursor.Current.Is("(") && _shapes.IsRows(_shapes.ToSequence(target)))
        {
            throw ReduceResult.CountRefusal(name.Text, name.Position);
        }

        if (_cursor.Current.Is("("))
        {
            target = _shapes.ToSequence(target);
            _shapes.Types.RequireMethod(target, name);
            return ToCall(target, name, ParseArguments(_shapes.Types.ElementOf(target)));
        }

        if (_shapes.IsGroup(target) && name.Text is "Key")
        {
            return new MemberExpression(target, "key", name.Position);
        }

        _shapes.Types.RequireMember(_shapes.ToSequence(target), name);
        return _shapes.Note(
            LinqMethods.ToMember(_shapes.ToSequence(target), name, _shapes.IsRow(target)),
            target,
            name.Text
        );
    }

    private Expression ToCall(Expression target, Token method, List<Expression> arguments) =>
        method.Text is "Count" or "LongCount" or "Average" && _shapes.IsRows(target)
            ? throw ReduceResult.CountRefusal(method.Text, method.Position)
            : LinqMethods.ToCall(target, method, arguments);

    private InvokeExpression ParseElement(Expression target)
    {
        int at = _cursor.Expect("[").Position;
        target = _shapes.ToSequence(target);
        var index = ParseExpression();
        _cursor.Expect("]");
        return new InvokeExpression(ScriptFunction.ElementAt, [target, index], at);
    }

    /// <summary>Parses arguments.</summary>
    /// <param name="element">What is known of the first parameter of functions among them.</param>
    private List<Expression> ParseArguments(LinqType? element = null)
    {
        _cursor.Expect("(");
        var arguments = new List<Expression>();
        while (!_cursor.TryTake(")"))
        {
            arguments.Add(ParseArgument(element));
            if (!_cursor.Current.Is(")"))
            {
                _cursor.Expect(",");
            }
        }

        return arguments;
    }

    private Expression ParseArgument(LinqType? element)
    {
        if (_cursor.Current.Kind == TokenKind.Name && _cursor.Ahead(1).Is(":"))
        {
            throw TokenCursor.NotSupported("arguments by name", _cursor.Current.Position);
        }

        _cursor.Enter();
        int mark = _cursor.Mark;
        bool isCast = TryParseCast(out var type) && type.Name is "Func";
        if (!isCast)
        {
            _cursor.Reset(mark);
        }

        Expression result;
        if (isCast && _cursor.TryTake("("))
        {
            result = ParseArgument(element);
            _cursor.Expect(")");
        }
        else
        {
            result = IsLambda() ? ParseLambda(element) : _shapes.ToSequence(ParseExpression());
        }

        _cursor.Leave();
        return result;
    }
}
