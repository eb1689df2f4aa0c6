using Rookery.Scripting.Syntax;

namespace Rookery.Queries.Language;

/// <summary>
/// Finds the end of a script in braces without parsing it: counts braces outside of texts, templates, comments and
/// regular expressions.
/// </summary>
internal ref struct ScriptEnd
{
    private readonly string _text;
    private readonly int _open;

    // For each open brace, whether it encloses a value in a template.
    private readonly Stack<bool> _isTemplate = new();
    private int _position;
    private ReadOnlySpan<char> _previous;

    // Whether the previous token is the name of a member, such as `in` of `this.in`.
    private bool _isMember;

    private ScriptEnd(string text, int open)
    {
        _text = text;
        _open = open;
        _position = open;
    }

    /// <summary>Returns the position of the brace that closes the one at <paramref name="open"/>.</summary>
    /// <exception cref="QueryException">The brace is not closed, or a text in the script does not end.</exception>
    public static int Find(string text, int open) => new ScriptEnd(text, open).Find();

    private int Find()
    {
        while (_position < _text.Length)
        {
            int start = _position;
            char current = _text[start];
            if (RqlComment.TrySkip(_text, start, out _position) || char.IsWhiteSpace(current))
            {
                _position = Math.Max(_position, start + 1);
                continue;
            }

            _position = start + 1;
            switch (current)
            {
                case '{':
                    _isTemplate.Push(false);
                    break;
                case '}' when _isTemplate.Pop():
                    SkipTemplate(start);
                    break;
                case '}' when _isTemplate.Count == 0:
                    return start;
                case '\'' or '"':
                    SkipText(start, current);
                    break;
                case '`':
                    SkipTemplate(start);
                    break;
                case '/' when IsOperandNext():
                    SkipRegularExpression(start);
                    break;
                case '+' or '-' when _position < _text.Length && _text[_position] == current:
                    _position++;
                    break;
                default:
                    SkipWord(current);
                    break;
            }

            _isMember = _previous.SequenceEqual(".");
            _previous = _text.AsSpan(start, _position - start);
        }

        throw new QueryException(QueryFault.Invalid, "This brace is not closed: '}' is missing.", _open);
    }

    /// <summary>
    /// Returns whether an operand must follow. Then a slash begins a regular expression; otherwise it divides.
    /// </summary>
    private readonly bool IsOperandNext() =>
        (!_isMember && PatternText.IsWordBeforeOperand(_previous))
        || (_previous.Length == 1 && PatternText.IsBeforeOperand(_previous[0]));

    private void SkipWord(char first)
    {
        while (IsWordCharacter(first) && _position < _text.Length && IsWordCharacter(_text[_position]))
        {
            _position++;
        }
    }

    private static bool IsWordCharacter(char c) => char.IsLetterOrDigit(c) || c is '_' or '$';

    private void SkipText(int start, char quote)
    {
        for (; _position < _text.Length && _text[_position] != '\n'; _position++)
        {
            if (_text[_position] == quote)
            {
                _position++;
                return;
            }

            _position += _text[_position] == '\\' ? 1 : 0;
        }

        throw new QueryException(
            QueryFault.Invalid,
            $"This text of the script does not end: a closing {quote} is missing.",
            start
        );
    }

    private void SkipTemplate(int start)
    {
        for (; _position < _text.Length; _position++)
        {
            switch (_text[_position])
            {
                case '`':
                    _position++;
                    return;
                case '$' when _position + 1 < _text.Length && _text[_position + 1] == '{':
                    _position += 2;
                    _isTemplate.Push(true);
                    return;
                case '\\':
                    _position++;
                    break;
            }
        }

        throw new QueryException(
            QueryFault.Invalid,
            "This template of the script does not end: a closing ` is missing.",
            start
        );
    }

    private void SkipRegularExpression(int start)
    {
        bool isClass = false;
        for (; _position < _text.Length && _text[_position] != '\n'; _position++)
        {
            char current = _text[_position];
            if (current == '/' && !isClass)
            {
                _position++;
                return;
            }

            isClass = current == '[' || (isClass && current != ']');
            _position += current == '\\' ? 1 : 0;
        }

        throw new QueryException(
            QueryFault.Invalid,
            "This regular expression of the script does not end: a closing / is missing.",
            start
        );
    }
}
