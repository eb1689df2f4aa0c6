using System.Globalization;
using System.Text;
using Rookery.Scripting.Compiling;
using Rookery.Scripting.Syntax;

namespace Rookery.Indexing.Definitions;

/// <summary>Parses operands of C# expressions in index texts: names, literals and <c>new</c>.</summary>
internal sealed class LinqPrimaryParser(LinqParser parser)
{
    /// <summary>Keywords of C# that begin no supported expression.</summary>
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

    public Expression ParsePrimary()
    {
        var token = parser.Cursor.Current;
        switch (token.Kind)
        {
            case TokenKind.Number:
                return ToNumber(parser.Cursor.Take());
            case TokenKind.Text:
                parser.Cursor.Take();
                // The lexer marks a character literal by a Number other than 0.
                var literal = new TextLiteral(token.Text, token.Position);
                return token.Number == 0
                    ? literal
                    : new InvokeExpression(ScriptFunction.ToCharacter, [literal], token.Position);
            case TokenKind.Name:
                return ParseName(token);
            case TokenKind.Punctuator when token.Text is "(":
                parser.Cursor.Take();
                var inner = parser.Expressions.ParseExpression();
                if (parser.Cursor.Current.Is(",") || parser.Cursor.Current.Is(":"))
                {
                    throw TokenCursor.NotSupported("tuples", token.Position);
                }

                parser.Cursor.Expect(")");
                return inner;
            case TokenKind.Punctuator when token.Text is "[":
                throw TokenCursor.NotSupported("lists in brackets: write 'new[] { … }'", token.Position);
            case TokenKind.Punctuator when token.Text is "@":
                throw TokenCursor.NotSupported("'@' before a name", token.Position);
            default:
                throw parser.Cursor.Unexpected("A value");
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
            case "$" when parser.Cursor.Ahead(1).Kind == TokenKind.Text:
                parser.Cursor.Take();
                return ParseInterpolation(parser.Cursor.Take());
            case "from" when parser.Cursor.Ahead(1).Kind == TokenKind.Name && !parser.Cursor.Ahead(1).IsWord("in"):
                return parser.Queries.ParseInnerQuery();
            case "this" when parser.Cursor.Ahead(1).Is("."):
                parser.Cursor.Take();
                parser.Cursor.Take();
                return ParseFunction(parser.Cursor.ExpectName());
        }

        if (Unsupported.Contains(token.Text))
        {
            throw TokenCursor.NotSupported(token.Quoted, token.Position);
        }

        parser.Cursor.Take();
        while (
            token.Text is "System" or "Linq"
            && parser.Cursor.Current.Is(".")
            && parser.Cursor.Ahead(1).Kind == TokenKind.Name
        )
        {
            parser.Cursor.Take();
            token = parser.Cursor.Take();
        }

        if (LinqStatics.HasStaticMembers(token.Text) && parser.Cursor.Current.Is("."))
        {
            return ParseStatic(token);
        }

        if (parser.Cursor.Current.Is("(") || (parser.Cursor.Current.Is("<") && token.Text is "LoadDocument"))
        {
            return ParseFunction(token);
        }

        return new NameExpression(token.Text, token.Position);
    }

    /// <summary>
    /// Translates a number literal. Suffix and decimal point determine whether it is an integer, a double, a float or a
    /// decimal.
    /// </summary>
    private static Expression ToNumber(Token token)
    {
        string text = token.Text;
        int at = token.Position;
        bool isHexOrBinary = text.Length > 1 && text[1] is 'x' or 'X' or 'b' or 'B';
        char suffix = isHexOrBinary && text[^1] is not ('l' or 'L') ? '0' : char.ToLowerInvariant(text[^1]);
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

        bool isWhole = suffix is not ('d' or 'f') && (isHexOrBinary || text.AsSpan().IndexOfAny('.', 'e', 'E') < 0);
        if (!isWhole)
        {
            // A float is parsed as a float, because rounding to a double first may result in another float.
            double value = suffix is 'f'
                ? float.Parse(text.AsSpan()[..^1], NumberStyles.Float, CultureInfo.InvariantCulture)
                : token.Number;
            var real = double.IsFinite(value)
                ? new NumberLiteral(value, at) { IsCSharp = true }
                : throw TokenCursor.NotSupported($"numbers as large as {text}", at);
            return suffix is 'f' ? new InvokeExpression(ScriptFunction.CastToFloat, [real], at) : real;
        }

        if (isHexOrBinary && token.Number > int.MaxValue)
        {
            throw TokenCursor.NotSupported("hexadecimal and binary numbers above 0x7FFFFFFF", at);
        }

        long whole = (long)token.Number;
        var digits = text.AsSpan().TrimEnd(['l', 'L']);
        if (!isHexOrBinary && !long.TryParse(digits, NumberStyles.None, CultureInfo.InvariantCulture, out whole))
        {
            throw TokenCursor.NotSupported($"whole numbers as large as {text}", at);
        }

        if (suffix is 'l')
        {
            return LinqConstants.Long(whole, at);
        }

        return LinqConstants.Whole(whole, at);
    }

    /// <summary>Parses an interpolated string, <c>$"{a.b:0.00} {c}"</c>, to a call of <c>string.Format</c>.</summary>
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
                int end = InterpolatedText.FindEndOfValue(text.Text, at + 1);
                if (end < 0)
                {
                    throw TokenCursor.NotSupported(
                        "an interpolated text in which a value has no closing brace",
                        text.Position
                    );
                }

                var inner = new LinqParser(text.Text[(at + 1)..end], text.Position, parser.Cursor.Level, parser.Shapes);
                format.Append(CultureInfo.InvariantCulture, $"{inside.Count}");
                inside.Add(parser.Shapes.ToSequence(inner.Expressions.ParseExpression()));
                inner.Queries.ExpectEnd();
                at = end - 1;
            }
        }

        return new InvokeExpression(
            ScriptFunction.FormatText,
            [new TextLiteral(format.ToString(), text.Position), new ArrayLiteral(inside, text.Position)],
            text.Position
        );
    }

    private WordLiteral Word(Opcode push) => new(push, parser.Cursor.Take().Position);

    private Expression ParseStatic(Token type)
    {
        parser.Cursor.Take();
        var member = parser.Cursor.ExpectName();
        parser.Types.SkipTypeArguments();
        if (!parser.Cursor.Current.Is("("))
        {
            return LinqStatics.ToValue(type.Text, member.Text, type.Position);
        }

        var arguments = parser.Expressions.ParseArguments();
        if (
            member.Text is "Equals"
            && arguments is [var first, var second]
            && parser.Shapes.Types.Numbers.IsNumberBesideUnknown(first, second)
        )
        {
            throw TokenCursor.NotSupported(
                $"'{type.Text}.Equals' of a number and a value whose type the text does not show: write 'a == b'",
                type.Position
            );
        }

        return
            LinqStatics.HasMethodsOfSequences(type.Text)
            && arguments.Count > 0
            && LinqMethods.IsOfSequences(member.Text)
            ? parser.Expressions.ToCall(arguments[0], member, arguments[1..])
            : LinqStatics.ToCall(type.Text, member.Text, arguments, type.Position);
    }

    private Expression ParseFunction(Token name)
    {
        parser.Types.SkipTypeArguments();
        return LinqStatics.ToFunction(name, parser.Expressions.ParseArguments());
    }

    private Expression ParseNew()
    {
        int at = parser.Cursor.Take().Position;
        if (parser.Cursor.TryTake("["))
        {
            parser.Cursor.Expect("]");
            return parser.Shapes.Types.Numbers.Unify(ParseElements(at));
        }

        if (parser.Cursor.Current.Is("{"))
        {
            return ParseObject(at);
        }

        if (parser.Cursor.Current.Is("("))
        {
            throw TokenCursor.NotSupported("'new' without a type", at);
        }

        if (!parser.Types.TryParseType(out var type))
        {
            throw parser.Cursor.Unexpected("'{', '[' or the name of a type");
        }

        if (type.IsArray || type.Name is "List" or "HashSet")
        {
            bool isCall = parser.Cursor.TryTake("(");
            if (isCall)
            {
                parser.Cursor.Expect(")");
            }

            if (LinqTypeParser.IsUnsupportedNumber(type.Element))
            {
                throw TokenCursor.NotSupported($"elements of type '{type.Element}'", at);
            }

            var elements = isCall && !parser.Cursor.Current.Is("{") ? new ArrayLiteral([], at) : ParseElements(at);
            elements = LinqTypeParser.Casts.TryGetValue(type.Element, out var cast)
                ? parser.Shapes.Types.Numbers.ConvertAll(elements, cast, type.IsNullable)
                : elements;
            return type is { Name: "HashSet", IsArray: false }
                ? new InvokeExpression(ScriptFunction.Distinct, [elements], at)
                : elements;
        }

        if (parser.Cursor.Current.Is("("))
        {
            return LinqStatics.ToNew(type.Name, parser.Expressions.ParseArguments(), at);
        }

        return parser.Cursor.Current.Is("{") && !type.IsGeneric
            ? ParseObject(at)
            : throw TokenCursor.NotSupported($"'new {type.Name}'", at);
    }

    private ArrayLiteral ParseElements(int at)
    {
        parser.Cursor.Expect("{");
        var elements = new List<Expression>();
        while (!parser.Cursor.TryTake("}"))
        {
            var element = parser.Expressions.ParseExpression();
            elements.Add(
                parser.Shapes.Of(element) is null
                    ? element
                    : throw TokenCursor.NotSupported("a group in an array", element.Position)
            );
            if (!parser.Cursor.Current.Is("}"))
            {
                parser.Cursor.Expect(",");
            }
        }

        return new ArrayLiteral(elements, at);
    }

    private ObjectLiteral ParseObject(int at)
    {
        parser.Cursor.Expect("{");
        var members = new List<ObjectMember>();
        while (!parser.Cursor.TryTake("}"))
        {
            int position = parser.Cursor.Current.Position;
            var member = ParseObjectMember();
            if (members.Exists(other => string.Equals(other.Name, member.Name, StringComparison.Ordinal)))
            {
                throw new ScriptException(ScriptFault.Syntax, $"The member '{member.Name}' occurs twice", position);
            }

            members.Add(member);
            if (!parser.Cursor.Current.Is("}"))
            {
                parser.Cursor.Expect(",");
            }
        }

        return new ObjectLiteral(members, at);
    }

    /// <summary>Parses a member written <c>a = b</c>, or named by the last name of its value.</summary>
    private ObjectMember ParseObjectMember()
    {
        var first = parser.Cursor.Current;
        if (first.Kind == TokenKind.Name && parser.Cursor.Ahead(1).Is("="))
        {
            parser.Cursor.Take();
            parser.Cursor.Take();
            return new ObjectMember(first.Text, Key: null, parser.Expressions.ParseExpression());
        }

        var value = parser.Expressions.ParseExpression();
        var last = parser.Cursor.Ahead(-1);
        return
            last.Kind == TokenKind.Name
            && value
                is NameExpression
                    or MemberExpression
                    or InvokeExpression { Function: ScriptFunction.Property or ScriptFunction.PropertyOfDictionary }
            ? new ObjectMember(last.Text, Key: null, value)
            : throw new ScriptException(
                ScriptFault.Syntax,
                "A member of an object needs a name here, as in 'name = …'",
                first.Position
            );
    }
}
