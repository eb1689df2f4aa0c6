using Rookery.Json;
using Rookery.Scripting.Compiling;

namespace Rookery.Scripting.Syntax;

/// <content>What expressions are made of.</content>
internal sealed partial class JavaScriptParser
{
    private Expression ParsePrimary()
    {
        var token = _cursor.Current;
        switch (token.Kind)
        {
            case TokenKind.Number:
                return new NumberLiteral(_cursor.Take().Number, token.Position);
            case TokenKind.Text:
                return new TextLiteral(_cursor.Take().Text, token.Position);
            case TokenKind.Template:
                return ParseTemplate(_cursor.Take());
            case TokenKind.Name:
                return ParseName(token);
            case TokenKind.Mark when token.Text is "(":
                return ParseParenthesised();
            case TokenKind.Mark when token.Text is "[":
                return ParseArray();
            case TokenKind.Mark when token.Text is "{":
                return ParseObject();
            case TokenKind.Mark when token.Text is "/" or "/=":
                throw TokenCursor.NotSupported("regular expressions", token.Position);
            case TokenKind.Mark when token.Text is "@" or "#":
                throw TokenCursor.NotSupported($"{token.Quoted}", token.Position);
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
            case "undefined":
                return Word(Opcode.PushUndefined);
            case "this":
                // There it is not the document, but whatever the function is called on.
                return _isInFunction
                    ? throw TokenCursor.NotSupported("'this' inside 'function'", token.Position)
                    : new NameExpression(_cursor.Take().Text, token.Position);
            case "function":
                return ParseFunctionExpression();
            default:
                return new NameExpression(ExpectVariable(), token.Position);
        }
    }

    private WordLiteral Word(Opcode push) => new(push, _cursor.Take().Position);

    /// <summary>Takes the name of a variable.</summary>
    private string ExpectVariable()
    {
        var token = _cursor.Current;
        if (token.Kind == TokenKind.Name && UnsupportedWords.TryGetValue(token.Text, out string? construct))
        {
            throw TokenCursor.NotSupported(construct, token.Position);
        }

        return token.Kind != TokenKind.Name || ReservedWords.Contains(token.Text)
            ? throw _cursor.Unexpected("A name")
            : _cursor.Take().Text;
    }

    private Expression ParseParenthesised()
    {
        _cursor.Expect("(");
        if (_cursor.Current.Is("..."))
        {
            throw TokenCursor.NotSupported("rest parameters", _cursor.Current.Position);
        }

        var inner = ParseSequence();
        _cursor.Expect(")");
        return inner;
    }

    private ArrayLiteral ParseArray()
    {
        int at = _cursor.Expect("[").Position;
        var elements = new List<Expression>();
        while (!_cursor.TryTake("]"))
        {
            if (_cursor.Current.Is(","))
            {
                throw TokenCursor.NotSupported("holes in arrays", _cursor.Current.Position);
            }

            var mark = _cursor.Current;
            elements.Add(
                _cursor.TryTake("...") ? new SpreadExpression(ParseExpression(), mark.Position) : ParseExpression()
            );
            if (!_cursor.Current.Is("]"))
            {
                _cursor.Expect(",");
            }
        }

        return new ArrayLiteral(elements, at);
    }

    private ObjectLiteral ParseObject()
    {
        int at = _cursor.Expect("{").Position;
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

    private ObjectMember ParseObjectMember()
    {
        var token = _cursor.Take();
        switch (token.Kind)
        {
            case TokenKind.Mark when token.Text is "...":
                return new ObjectMember(null, null, ParseExpression());
            case TokenKind.Mark when token.Text is "[":
                var key = ParseExpression();
                _cursor.Expect("]");
                ExpectValueOfMember(token);
                return new ObjectMember(null, key, ParseExpression());
            case TokenKind.Text or TokenKind.Number:
                ExpectValueOfMember(token);
                return new ObjectMember(
                    token.Kind == TokenKind.Text ? token.Text : JsonNumber.Format(token.Number),
                    null,
                    ParseExpression()
                );
            case TokenKind.Name when _cursor.TryTake(":"):
                return new ObjectMember(token.Text, null, ParseExpression());
            case TokenKind.Name when _cursor.Current.Is(",") || _cursor.Current.Is("}"):
                return new ObjectMember(token.Text, null, new NameExpression(token.Text, token.Position));
            case TokenKind.Name when _cursor.Current.Is("="):
                throw TokenCursor.NotSupported("destructuring", token.Position);
            case TokenKind.Name when _cursor.Current.Is("(") || _cursor.Current.Is("*"):
            case TokenKind.Name when _cursor.Current.Kind == TokenKind.Name:
            case TokenKind.Mark when token.Text is "*":
                throw TokenCursor.NotSupported("methods in object literals", token.Position);
            default:
                throw new ScriptException(
                    ScriptFault.Syntax,
                    $"A member of an object was expected here, not {token.Quoted}",
                    token.Position
                );
        }
    }

    private void ExpectValueOfMember(Token name)
    {
        if (_cursor.Current.Is("("))
        {
            throw TokenCursor.NotSupported("methods in object literals", name.Position);
        }

        _cursor.Expect(":");
    }

    /// <summary>
    /// Whether an arrow function begins here: the arrow decides, behind a name or behind its brackets.
    /// </summary>
    private bool IsLambda()
    {
        if (_cursor.Current.Kind == TokenKind.Name)
        {
            return _cursor.Ahead(1).Is("=>");
        }

        if (!_cursor.Current.Is("("))
        {
            return false;
        }

        int ahead = 0,
            level = 0;
        do
        {
            var token = _cursor.Ahead(ahead++);
            if (token.Kind == TokenKind.End)
            {
                return false;
            }

            level +=
                token.Is("(") ? 1
                : token.Is(")") ? -1
                : 0;
        } while (level > 0);
        return _cursor.Ahead(ahead).Is("=>");
    }

    private LambdaExpression ParseLambda()
    {
        int at = _cursor.Current.Position;
        IReadOnlyList<string> parameters = _cursor.Current.Is("(") ? ParseParameters() : [ExpectVariable()];
        _cursor.Expect("=>");
        return _cursor.Current.Is("{")
            ? new LambdaExpression(parameters, null, ParseBlock(), at)
            : new LambdaExpression(parameters, ParseExpression(), null, at);
    }

    private LambdaExpression ParseFunctionExpression()
    {
        int at = _cursor.ExpectWord("function").Position;
        if (_cursor.Current.Is("*"))
        {
            throw TokenCursor.NotSupported("generators", _cursor.Current.Position);
        }

        if (!_cursor.Current.Is("("))
        {
            ExpectVariable();
        }

        bool wasInFunction = _isInFunction;
        _isInFunction = true;
        var function = new LambdaExpression(ParseParameters(), null, ParseBlock(), at);
        _isInFunction = wasInFunction;
        return function;
    }

    private List<string> ParseParameters()
    {
        _cursor.Expect("(");
        var names = new List<string>();
        while (!_cursor.TryTake(")"))
        {
            var token = _cursor.Current;
            if (token.Is("{") || token.Is("[") || token.Is("..."))
            {
                throw TokenCursor.NotSupported(token.Is("...") ? "rest parameters" : "destructuring", token.Position);
            }

            names.Add(ExpectVariable());
            if (_cursor.Current.Is("="))
            {
                throw TokenCursor.NotSupported("default values of parameters", _cursor.Current.Position);
            }

            if (!_cursor.Current.Is(")"))
            {
                _cursor.Expect(",");
            }
        }

        return names;
    }

    /// <summary>Cuts a template into texts and values; each value is parsed as a script of its own.</summary>
    private static TemplateLiteral ParseTemplate(Token token)
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

    /// <summary>A text between the values of a template, in which each line end is a line feed.</summary>
    private static TextLiteral TextOfTemplate(string inside, Token token, int from)
    {
        string text = inside.Replace("\r\n", "\n", StringComparison.Ordinal).Replace('\r', '\n');
        return new TextLiteral(Escapes.Resolve(text, token.Position + 1 + from), token.Position);
    }

    private static Expression ParseTemplateValue(string value, int position)
    {
        var parser = new JavaScriptParser(value, position);
        var result = parser.ParseExpression();
        parser.ExpectEnd();
        return result;
    }
}
