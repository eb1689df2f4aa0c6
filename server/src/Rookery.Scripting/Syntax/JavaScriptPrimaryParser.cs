using Rookery.Json;
using Rookery.Scripting.Compiling;
using Rookery.Scripting.Patterns;

namespace Rookery.Scripting.Syntax;

/// <summary>Parses operands of expressions in scripts: names, literals, arrays and objects.</summary>
internal sealed class JavaScriptPrimaryParser(JavaScriptParser parser)
{
    private readonly HashSet<Expression> _inBrackets = new(ReferenceEqualityComparer.Instance);

    /// <summary>Returns whether an operation or number stands in brackets; false for some other expressions.</summary>
    public bool IsInBrackets(Expression expression) => _inBrackets.Contains(expression);

    public Expression ParsePrimary()
    {
        var token = parser.Cursor.Current;
        switch (token.Kind)
        {
            case TokenKind.Number:
                return new NumberLiteral(parser.Cursor.Take().Number, token.Position);
            case TokenKind.Text:
                return new TextLiteral(parser.Cursor.Take().Text, token.Position);
            case TokenKind.Template:
                return ParseTemplate(parser.Cursor.Take());
            case TokenKind.Name:
                return ParseName(token);
            case TokenKind.Punctuator when token.Text is "(":
                return ParseParenthesised();
            case TokenKind.Punctuator when token.Text is "[":
                return ParseArray();
            case TokenKind.Punctuator when token.Text is "{":
                return ParseObject();
            case TokenKind.Pattern:
                return ParsePattern(parser.Cursor.Take());
            case TokenKind.Punctuator when token.Text is "@" or "#":
                throw TokenCursor.NotSupported($"{token.Quoted}", token.Position);
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
            case "undefined":
                return Word(Opcode.PushUndefined);
            case "this":
                // In a function, 'this' is not the document but the object on which the function is called.
                return parser.IsInFunction
                    ? throw TokenCursor.NotSupported("'this' inside 'function'", token.Position)
                    : new NameExpression(parser.Cursor.Take().Text, token.Position);
            case "new":
                return ParseNew();
            case "function":
                return parser.Functions.ParseFunctionExpression();
            default:
                return new NameExpression(parser.Functions.ExpectVariable(), token.Position);
        }
    }

    private NewExpression ParseNew()
    {
        int at = parser.Cursor.Take().Position;
        if (parser.Cursor.Current.Is("."))
        {
            throw TokenCursor.NotSupported("'new.target'", at);
        }

        string name = parser.Functions.ExpectVariable();
        if (parser.Cursor.Current.Is("."))
        {
            throw TokenCursor.NotSupported("'new' with a member", at);
        }

        var arguments = parser.Cursor.Current.Is("(") ? parser.Expressions.ParseArguments() : [];
        return new NewExpression(name, arguments, at);
    }

    /// <summary>Parses a regular expression, which is checked here and compiled again for each program.</summary>
    private InvokeExpression ParsePattern(Token token)
    {
        int end = token.Text.LastIndexOf('/');
        string source = token.Text[1..end];
        string flags = token.Text[(end + 1)..];
        try
        {
            parser.PatternInstructions += PatternCompiler.Compile(source, flags).Instructions.Length;
        }
        catch (PatternException fault)
        {
            throw fault.IsSupported
                ? new ScriptException(ScriptFault.Syntax, $"The regular expression has {fault.Message}", token.Position)
                : TokenCursor.NotSupported($"a regular expression with {fault.Message}", token.Position);
        }

        if (parser.PatternInstructions > JavaScriptParser.MaxPatternInstructions)
        {
            throw new ScriptException(
                ScriptFault.TooLarge,
                "The regular expressions of the script are too long together",
                token.Position
            );
        }

        return new InvokeExpression(
            ScriptFunction.NewPattern,
            [new TextLiteral(source, token.Position), new TextLiteral(flags, token.Position)],
            token.Position
        );
    }

    private WordLiteral Word(Opcode push) => new(push, parser.Cursor.Take().Position);

    private Expression ParseParenthesised()
    {
        parser.Cursor.Expect("(");
        if (parser.Cursor.Current.Is("..."))
        {
            throw TokenCursor.NotSupported("rest parameters", parser.Cursor.Current.Position);
        }

        var inner = parser.Expressions.ParseSequence();
        parser.Cursor.Expect(")");
        if (inner is LogicalExpression or UnaryExpression or DeleteExpression or NumberLiteral)
        {
            _inBrackets.Add(inner);
        }

        return inner;
    }

    private ArrayLiteral ParseArray()
    {
        int at = parser.Cursor.Expect("[").Position;
        var elements = new List<Expression>();
        while (!parser.Cursor.TryTake("]"))
        {
            if (parser.Cursor.Current.Is(","))
            {
                throw TokenCursor.NotSupported("holes in arrays", parser.Cursor.Current.Position);
            }

            var first = parser.Cursor.Current;
            elements.Add(
                parser.Cursor.TryTake("...")
                    ? new SpreadExpression(parser.Expressions.ParseExpression(), first.Position)
                    : parser.Expressions.ParseExpression()
            );
            if (!parser.Cursor.Current.Is("]"))
            {
                parser.Cursor.Expect(",");
            }
        }

        return new ArrayLiteral(elements, at);
    }

    private ObjectLiteral ParseObject()
    {
        int at = parser.Cursor.Expect("{").Position;
        var members = new List<ObjectMember>();
        while (!parser.Cursor.TryTake("}"))
        {
            members.Add(ParseObjectMember());
            if (!parser.Cursor.Current.Is("}"))
            {
                parser.Cursor.Expect(",");
            }
        }

        return new ObjectLiteral(members, at);
    }

    private ObjectMember ParseObjectMember()
    {
        var token = parser.Cursor.Take();
        switch (token.Kind)
        {
            case TokenKind.Punctuator when token.Text is "...":
                return new ObjectMember(Name: null, Key: null, parser.Expressions.ParseExpression());
            case TokenKind.Punctuator when token.Text is "[":
                var key = parser.Expressions.ParseExpression();
                parser.Cursor.Expect("]");
                ExpectValueOfMember(token);
                return new ObjectMember(Name: null, key, parser.Expressions.ParseExpression());
            case TokenKind.Text or TokenKind.Number:
                ExpectValueOfMember(token);
                return new ObjectMember(
                    token.Kind == TokenKind.Text ? token.Text : JsonNumber.Format(token.Number),
                    Key: null,
                    parser.Expressions.ParseExpression()
                );
            case TokenKind.Name when parser.Cursor.TryTake(":"):
                return new ObjectMember(token.Text, Key: null, parser.Expressions.ParseExpression());
            case TokenKind.Name when parser.Cursor.Current.Is(",") || parser.Cursor.Current.Is("}"):
                return new ObjectMember(token.Text, Key: null, ParseShorthand(token));
            case TokenKind.Name when parser.Cursor.Current.Is("="):
                throw TokenCursor.NotSupported("destructuring", token.Position);
            case TokenKind.Name when parser.Cursor.Current.Is("(") || parser.Cursor.Current.Is("*"):
            case TokenKind.Name when parser.Cursor.Current.Kind == TokenKind.Name:
            case TokenKind.Name
                when token.Text is "get" or "set" or "async"
                    && (
                        parser.Cursor.Current.Kind is TokenKind.Text or TokenKind.Number
                        || parser.Cursor.Current.Is("[")
                    ):
            case TokenKind.Punctuator when token.Text is "*":
                throw TokenCursor.NotSupported("methods in object literals", token.Position);
            default:
                throw new ScriptException(
                    ScriptFault.Syntax,
                    $"A member of an object was expected here, not {token.Quoted}",
                    token.Position
                );
        }
    }

    private static NameExpression ParseShorthand(Token name) =>
        JavaScriptParser.ReservedWords.Contains(name.Text) || JavaScriptParser.UnsupportedWords.ContainsKey(name.Text)
            ? throw new ScriptException(
                ScriptFault.Syntax,
                $"{name.Quoted} is no variable, so its member needs a value, as in '{name.Text}: …'",
                name.Position
            )
            : new NameExpression(name.Text, name.Position);

    private void ExpectValueOfMember(Token name)
    {
        if (parser.Cursor.Current.Is("("))
        {
            throw TokenCursor.NotSupported("methods in object literals", name.Position);
        }

        parser.Cursor.Expect(":");
    }

    /// <summary>Splits a template into texts and values. Each value is parsed as a separate expression.</summary>
    private TemplateLiteral ParseTemplate(Token token)
    {
        string inside = token.Text;
        var parts = new List<Expression>();
        int from = 0;
        for (int at = 0; at < inside.Length; )
        {
            if (inside[at] == '\\')
            {
                at += 2;
            }
            else if (inside[at] == '$' && at + 1 < inside.Length && inside[at + 1] == '{')
            {
                int end = TemplateText.FindEndOfValue(inside, at + 2);
                if (end < 0)
                {
                    const string NoEnd = "The value inside the template does not end";
                    throw new ScriptException(ScriptFault.Syntax, NoEnd, token.Position + 1 + at);
                }

                parts.Add(TextOfTemplate(inside[from..at], token, from));
                parts.Add(ParseTemplateValue(inside[(at + 2)..end], token.Position + 1 + at + 2));
                at = from = end + 1;
            }
            else
            {
                at++;
            }
        }

        parts.Add(TextOfTemplate(inside[from..], token, from));
        return new TemplateLiteral(parts, token.Position);
    }

    /// <summary>Returns a text of a template, with line feeds as line ends.</summary>
    private static TextLiteral TextOfTemplate(string inside, Token token, int from)
    {
        string text = inside.Replace("\r\n", "\n", StringComparison.Ordinal).Replace('\r', '\n');
        return new TextLiteral(Escapes.Resolve(text, token.Position + 1 + from), token.Position);
    }

    private Expression ParseTemplateValue(string value, int position)
    {
        var inner = new JavaScriptParser(value, position, parser.Cursor.Level) { IsInFunction = parser.IsInFunction };
        var result = inner.Expressions.ParseSequence();
        inner.ExpectEnd();
        parser.Resizes += inner.Resizes;
        parser.PatternInstructions += inner.PatternInstructions;
        return result;
    }
}
