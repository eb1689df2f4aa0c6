namespace Rookery.Scripting.Syntax;

/// <summary>Iterates over the tokens of a script, and bounds the recursion of its parser.</summary>
/// <param name="tokens">The tokens; the last is <see cref="TokenKind.End"/>.</param>
/// <param name="level">The level of the tokens: that of the template which they are in, or 0.</param>
internal sealed class TokenCursor(List<Token> tokens, int level = 0)
{
    /// <summary>Maximum levels of nesting. It bounds the recursion of parsers and compilers.</summary>
    public const int MaxLevels = 100;

    private int _position;

    /// <summary>The current level of nesting.</summary>
    public int Level { get; private set; } = level;

    /// <summary>The next token.</summary>
    public Token Current => tokens[_position];

    /// <summary>Returns a token relative to the next one; 0 is the next one.</summary>
    public Token Ahead(int count) => tokens[Math.Min(_position + count, tokens.Count - 1)];

    /// <summary>The current position, for <see cref="Reset"/>.</summary>
    public int Mark => _position;

    /// <summary>Returns to a position.</summary>
    public void Reset(int mark) => _position = mark;

    /// <summary>Returns the next token, and advances to the one after it; stays at the end.</summary>
    public Token Take()
    {
        var token = Current;
        _position = Math.Min(_position + 1, tokens.Count - 1);
        return token;
    }

    /// <summary>Advances if the next token is a given punctuator, such as <c>;</c>. Returns whether it was.</summary>
    public bool TryTake(string punctuator)
    {
        bool isNext = Current.Is(punctuator);
        _position += isNext ? 1 : 0;
        return isNext;
    }

    /// <summary>Advances if the next token is a given word, such as <c>else</c>. Returns whether it was.</summary>
    public bool TryTakeWord(string word)
    {
        bool isNext = Current.IsWord(word);
        _position += isNext ? 1 : 0;
        return isNext;
    }

    /// <summary>Returns the next token and advances.</summary>
    /// <exception cref="ScriptException">The next token is not the given punctuator.</exception>
    public Token Expect(string punctuator) => Current.Is(punctuator) ? Take() : throw Unexpected($"'{punctuator}'");

    /// <summary>Returns the next token and advances.</summary>
    /// <exception cref="ScriptException">The next token is not the given word.</exception>
    public Token ExpectWord(string word) => Current.IsWord(word) ? Take() : throw Unexpected($"'{word}'");

    /// <summary>Returns the next token and advances.</summary>
    /// <exception cref="ScriptException">The next token is no name.</exception>
    public Token ExpectName() => Current.Kind == TokenKind.Name ? Take() : throw Unexpected("a name");

    /// <summary>Returns the error for an unexpected next token.</summary>
    /// <param name="expected">What should stand there, as the message words it: <c>';'</c> or <c>a name</c>.</param>
    public ScriptException Unexpected(string expected) =>
        new(ScriptFault.Syntax, $"{expected} was expected here, not {Current.Quoted}", Current.Position);

    /// <summary>Returns the error for an unsupported construct, such as <c>'while' loops</c>.</summary>
    public static ScriptException NotSupported(string construct, int at) =>
        new(ScriptFault.NotSupported, $"This server does not run {construct}", at);

    /// <summary>Enters a level of nesting. <see cref="LeaveLevel"/> leaves it.</summary>
    public void EnterLevel()
    {
        if (++Level > MaxLevels)
        {
            throw new ScriptException(
                ScriptFault.TooLarge,
                $"The script nests deeper than {MaxLevels} levels",
                Current.Position
            );
        }
    }

    /// <summary>Leaves the level of <see cref="EnterLevel"/>.</summary>
    public void LeaveLevel() => Level--;
}
