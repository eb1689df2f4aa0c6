using System.Globalization;
using System.Text;
using Rookery.Scripting.Compiling;
using Rookery.Scripting.Syntax;

namespace Rookery.Indexing.Definitions;

/// <content>What expressions are made of.</content>
internal sealed partial class LinqParser
{
    /// <summary>Words of C# that are no names, and begin nothing that is understood.</summary>
    private static readonly HashSet<string> Unsupported = new(StringComparer.Ordinal)
    {
        "typeof",
        "nameof",
        "default",
        "sizeof",
        "checked",
        "unchecked",
        "await",
        "async",
        "delegate",
        "stackalloc",
        "throw",
        "switch",
        "base",
        "ref",
        "out",
        "in",
        "is",
        "as",
        "with",
    };

    private Expression ParsePrimary()
    {
        var token = _cursor.Current;
        switch (token.Kind)
        {
            case TokenKind.Number:
                return ToNumber(_cursor.Take());
            case TokenKind.Text:
                _cursor.Take();
                var literal = new TextLiteral(token.Text, token.Position);
                return token.Number == 0
                    ? literal
                    : new InvokeExpression(ScriptFunction.ToCharacter, [literal], token.Position);
            case TokenKind.Name:
                return ParseName(token);
            case TokenKind.Mark when token.Text is "(":
                _cursor.Take();
                var inner = ParseExpression();
                if (_cursor.Current.Is(",") || _cursor.Current.Is(":"))
                {
                    throw TokenCursor.NotSupported("tuples", token.Position);
                }

                _cursor.Expect(")");
                return inner;
            case TokenKind.Mark when token.Text is "[":
                throw TokenCursor.NotSupported("lists in brackets: write 'new[] { … }'", token.Position);
            case TokenKind.Mark when token.Text is "@":
                throw TokenCursor.NotSupported("'@' before a name, or before '$': write '$@'", token.Position);
            default:
                throw _cursor.Unexpected("A value");
        }
    }

    private Expression ParseName(Token token)
    {
        switch (token.Text)
        {
            case "true":
                return Word(Opcode.PushTrue);
            case "false":
                return Word(Opcode.PushFalse);
            case "null":
                return Word(Opcode.PushNull);
            case "new":
                return ParseNew();
            case "$" when _cursor.Ahead(1).Kind == TokenKind.Text:
                _cursor.Take();
                return ParseInterpolation(_cursor.Take());
            case "from" when _cursor.Ahead(1).Kind == TokenKind.Name && !_cursor.Ahead(1).IsWord("in"):
                return ParseInnerQuery();
            case "this" when _cursor.Ahead(1).Is("."):
                _cursor.Take();
                _cursor.Take();
                return ParseFunction(_cursor.ExpectName());
        }

        if (Unsupported.Contains(token.Text))
        {
            throw TokenCursor.NotSupported(token.Quoted, token.Position);
        }

        _cursor.Take();
        while (token.Text is "System" or "Linq" && _cursor.Current.Is(".") && _cursor.Ahead(1).Kind == TokenKind.Name)
        {
            _cursor.Take();
            token = _cursor.Take();
        }

        if (LinqStatics.IsCarrier(token.Text) && _cursor.Current.Is("."))
        {
            return ParseStatic(token);
        }

        if (_cursor.Current.Is("(") || (_cursor.Current.Is("<") && token.Text is "LoadDocument"))
        {
            return ParseFunction(token);
        }

        return new NameExpression(token.Text, token.Position);
    }

    /// <summary>A number, by its suffix and its point: a whole one, a double or a decimal.</summary>
    private static Expression ToNumber(Token token)
    {
        string text = token.Text;
        int at = token.Position;
        bool isOfBits = text.Length > 1 && text[1] is 'x' or 'X' or 'b' or 'B';
        char suffix = isOfBits && text[^1] is not ('l' or 'L') ? '0' : char.ToLowerInvariant(text[^1]);
        if (suffix is 'm')
        {
            return decimal.TryParse(text[..^1], NumberStyles.Float, CultureInfo.InvariantCulture, out decimal exact)
                ? new InvokeExpression(
                    ScriptFunction.ParseDecimal,
                    [new TextLiteral(exact.ToString(CultureInfo.InvariantCulture), at)],
                    at
                )
                : throw TokenCursor.NotSupported($"decimals as large as {text}", at);
        }

        bool isWhole = suffix is not ('d' or 'f') && (isOfBits || text.AsSpan().IndexOfAny('.', 'e', 'E') < 0);
        if (!isWhole)
        {
            // From a double, a number in the middle of two floats might become the other one.
            double value = suffix is 'f'
                ? float.Parse(text.AsSpan()[..^1], NumberStyles.Float, CultureInfo.InvariantCulture)
                : token.Number;
            var real = double.IsFinite(value)
                ? new NumberLiteral(value, at) { IsCSharp = true }
                : throw TokenCursor.NotSupported($"numbers as large as {text}", at);
            return suffix is 'f' ? new InvokeExpression(ScriptFunction.CastToFloat, [real], at) : real;
        }

        if (isOfBits && token.Number > int.MaxValue)
        {
            throw TokenCursor.NotSupported("hexadecimal and binary numbers above 0x7FFFFFFF", at);
        }

        long whole = (long)token.Number;
        var digits = text.AsSpan().TrimEnd(['l', 'L']);
        return !isOfBits && !long.TryParse(digits, NumberStyles.None, CultureInfo.InvariantCulture, out whole)
                ? throw TokenCursor.NotSupported($"whole numbers as large as {text}", at)
            : suffix is 'l' ? LinqConstants.Long(whole, at)
            : LinqConstants.Whole(whole, at);
    }

    /// <summary>
    /// A text with values in it, <c>$"{a.b:0.00} {c}"</c>: the format of <c>string.Format</c>, and the values.
    /// </summary>
    private InvokeExpression ParseInterpolation(Token text)
    {
        var format = new StringBuilder();
        var inside = new List<Expression>();
        for (int at = 0; at < text.Text.Length; at++)
        {
            char next = text.Text[at];
            format.Append(next);
            if (next is '{' && text.Text.AsSpan(at + 1).StartsWith("{"))
            {
                format.Append(text.Text[++at]);
            }
            else if (next is '{')
            {
                int end = EndOfValue(text, at + 1);
                var inner = new LinqParser(text.Text[(at + 1)..end], text.Position, _shapes);
                format.Append(CultureInfo.InvariantCulture, $"{inside.Count}");
                inside.Add(_shapes.ToSequence(inner.ParseExpression()));
                inner.ExpectEnd();
                at = end - 1;
            }
        }

        return new InvokeExpression(
            ScriptFunction.FormatText,
            [new TextLiteral(format.ToString(), text.Position), new ArrayLiteral(inside, text.Position)],
            text.Position
        );
    }

    /// <summary>Where a value in a text ends: at its brace, its format or its width.</summary>
    private static int EndOfValue(Token text, int from)
    {
        int level = 0;
        for (int at = from; at < text.Text.Length; at++)
        {
            char next = text.Text[at];
            if (level == 0 && next is '}' or ':' or ',')
            {
                return at;
            }

            if (next is '"' or '\'')
            {
                at = text.Text.IndexOf(next, at + 1) is > 0 and var end ? end : text.Text.Length;
            }

            level +=
                next is '(' or '[' or '{' ? 1
                : next is ')' or ']' or '}' ? -1
                : 0;
        }

        throw TokenCursor.NotSupported(
            "a value in a text that does not end in it, or has quotes of its own",
            text.Position
        );
    }

    private WordLiteral Word(Opcode push) => new(push, _cursor.Take().Position);

    private Expression ParseStatic(Token carrier)
    {
        _cursor.Take();
        var member = _cursor.ExpectName();
        SkipTypeArguments();
        if (!_cursor.Current.Is("("))
        {
            return LinqStatics.ToValue(carrier.Text, member.Text, carrier.Position);
        }

        var arguments = ParseArguments();
        return
            LinqStatics.HasMethodsOfSequences(carrier.Text)
            && arguments.Count > 0
            && LinqMethods.IsOfSequences(member.Text)
            ? ToCall(arguments[0], member, arguments[1..])
            : LinqStatics.ToCall(carrier.Text, member.Text, arguments, carrier.Position);
    }

    private InvokeExpression ParseFunction(Token name)
    {
        SkipTypeArguments();
        return LinqStatics.ToFunction(name, ParseArguments());
    }

    private Expression ParseNew()
    {
        int at = _cursor.Take().Position;
        if (_cursor.TryTake("["))
        {
            _cursor.Expect("]");
            return LinqNumbers.Unified(ParseElements(at));
        }

        if (_cursor.Current.Is("{"))
        {
            return ParseObject(at);
        }

        if (_cursor.Current.Is("("))
        {
            throw TokenCursor.NotSupported("'new' without a type", at);
        }

        if (!TryParseType(out var type))
        {
            throw _cursor.Unexpected("'{', '[' or the name of a type");
        }

        if (type.IsArray || type.Name is "List" or "HashSet")
        {
            bool isCall = _cursor.TryTake("(");
            if (isCall)
            {
                _cursor.Expect(")");
            }

            var elements = isCall && !_cursor.Current.Is("{") ? new ArrayLiteral([], at) : ParseElements(at);
            elements = Casts.TryGetValue(type.Element, out var cast)
                ? elements with
                {
                    Elements = [.. elements.Elements.Select(one => LinqNumbers.As(one, cast))],
                }
                : elements;
            return type is { Name: "HashSet", IsArray: false }
                ? new InvokeExpression(ScriptFunction.Distinct, [elements], at)
                : elements;
        }

        if (_cursor.Current.Is("("))
        {
            return LinqStatics.ToNew(type.Name, ParseArguments(), at);
        }

        return _cursor.Current.Is("{") && !type.IsGeneric
            ? ParseObject(at)
            : throw TokenCursor.NotSupported($"'new {type.Name}'", at);
    }

    private ArrayLiteral ParseElements(int at)
    {
        _cursor.Expect("{");
        var elements = new List<Expression>();
        while (!_cursor.TryTake("}"))
        {
            elements.Add(ParseExpression());
            if (!_cursor.Current.Is("}"))
            {
                _cursor.Expect(",");
            }
        }

        return new ArrayLiteral(elements, at);
    }

    private ObjectLiteral ParseObject(int at)
    {
        _cursor.Expect("{");
        var members = new List<ObjectMember>();
        while (!_cursor.TryTake("}"))
        {
            members.Add(ParseObjectMember());
            if (!_cursor.Current.Is("}"))
            {
                _cursor.Expect(",");
            }
        }

        return new ObjectLiteral(members, at);
    }

    /// <summary>A member named <c>a = b</c>, or by the last name of its value.</summary>
    private ObjectMember ParseObjectMember()
    {
        var first = _cursor.Current;
        if (first.Kind == TokenKind.Name && _cursor.Ahead(1).Is("="))
        {
            _cursor.Take();
            _cursor.Take();
            return new ObjectMember(first.Text, null, ParseExpression());
        }

        var value = ParseExpression();
        var last = _cursor.Ahead(-1);
        return
            last.Kind == TokenKind.Name
            && value
                is NameExpression
                    or MemberExpression
                    or InvokeExpression { Function: ScriptFunction.Property or ScriptFunction.PropertyOfDictionary }
            ? new ObjectMember(last.Text, null, value)
            : throw new ScriptException(
                ScriptFault.Syntax,
                "A member of an object needs a name here, as in 'name = …'",
                first.Position
            );
    }

    /// <summary>Whether a function begins here: the arrow decides.</summary>
    private bool IsLambda()
    {
        if (_cursor.Current.Kind == TokenKind.Name)
        {
            return _cursor.Ahead(1).Is("=>");
        }

        int ahead = 1;
        while (_cursor.Current.Is("(") && (_cursor.Ahead(ahead).Kind == TokenKind.Name || _cursor.Ahead(ahead).Is(",")))
        {
            ahead++;
        }

        return _cursor.Current.Is("(") && _cursor.Ahead(ahead).Is(")") && _cursor.Ahead(ahead + 1).Is("=>");
    }

    private LambdaExpression ParseLambda(LinqType? element = null)
    {
        var (parameters, at) = ParseLambdaHead();
        return ParseWith(parameters, null, element, at);
    }

    private (List<string> Parameters, int Position) ParseLambdaHead()
    {
        int at = _cursor.Current.Position;
        var parameters = new List<string>();
        if (_cursor.TryTake("("))
        {
            while (!_cursor.TryTake(")"))
            {
                var name = _cursor.ExpectName();
                parameters.Add(_cursor.Current.Kind == TokenKind.Name ? _cursor.Take().Text : name.Text);
                if (!_cursor.Current.Is(")"))
                {
                    _cursor.Expect(",");
                }
            }
        }
        else
        {
            parameters.Add(_cursor.ExpectName().Text);
        }

        _cursor.Expect("=>");
        return _cursor.Current.Is("{")
            ? throw TokenCursor.NotSupported("functions of statements", _cursor.Current.Position)
            : (parameters, at);
    }

    /// <summary>Parses what a function yields.</summary>
    /// <param name="parameters">Its parameters, which hide variables of their names.</param>
    /// <param name="shape">What is known of the groups in the first.</param>
    /// <param name="type">What is known of the first otherwise.</param>
    /// <param name="at">Where the function begins.</param>
    private LambdaExpression ParseWith(List<string> parameters, LinqShape? shape, LinqType? type, int at)
    {
        (LinqShape?, LinqType?)[] hidden =
        [
            .. parameters.Select(name => (_shapes.Find(name), _shapes.Types.Find(name))),
        ];
        for (int index = 0; index < parameters.Count; index++)
        {
            _shapes.Set(parameters[index], index == 0 ? shape : null);
            _shapes.Types.Set(parameters[index], index == 0 ? type : null);
        }

        var result = _shapes.Types.Note(new LambdaExpression(parameters, ParseExpression(), null, at));
        for (int index = parameters.Count - 1; index >= 0; index--)
        {
            _shapes.Set(parameters[index], hidden[index].Item1);
            _shapes.Types.Set(parameters[index], hidden[index].Item2);
        }

        return result;
    }
}
