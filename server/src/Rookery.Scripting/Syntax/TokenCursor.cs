namespace Rookery.Scripting.Syntax;

/// <summary>Walks over the tokens of a script, and bounds how deep a parser goes.</summary>
/// <param name="tokens">The tokens; the last one is the end.</param>
internal sealed class TokenCursor(List<Token> tokens)
{
    /// <summary>Levels of nesting that a script may have; parsers and compilers recurse so deep.</summary>
    public const int MostLevels = 100;

    private int _position;
    private int _level;

    /// <summary>The next token.</summary>
    public Token Current => tokens[_position];

    /// <summary>A token behind the next one.</summary>
    public Token Ahead(int count) => tokens[Math.Min(_position + count, tokens.Count - 1)];

    /// <summary>Where <see cref="Reset"/> comes back to.</summary>
    public int Mark => _position;

    /// <summary>Goes back.</summary>
    public void Reset(int mark) => _position = mark;

    /// <summary>Takes the next token.</summary>
    public Token Take()
    {
        var token = Current;
        _position = Math.Min(_position + 1, tokens.Count - 1);
        return token;
    }

    /// <summary>Takes a mark if it is next.</summary>
    public bool TryTake(string mark)
    {
        bool isNext = Current.Is(mark);
        _position += isNext ? 1 : 0;
        return isNext;
    }

    /// <summary>Takes a word if it is next.</summary>
    public bool TryTakeWord(string word)
    {
        bool isNext = Current.IsWord(word);
        _position += isNext ? 1 : 0;
        return isNext;
    }

    /// <summary>Takes a mark that must be next.</summary>
    public Token Expect(string mark) => Current.Is(mark) ? Take() : throw Unexpected($"'{mark}'");

    /// <summary>Takes a word that must be next.</summary>
    public Token ExpectWord(string word) => Current.IsWord(word) ? Take() : throw Unexpected($"'{word}'");

    /// <summary>Takes a name that must be next.</summary>
    public Token ExpectName() => Current.Kind == TokenKind.Name ? Take() : throw Unexpected("a name");

    /// <summary>The refusal of the next token.</summary>
    public ScriptException Unexpected(string wanted) =>
        new(ScriptFault.Syntax, $"{wanted} was expected here, not {Current.Quoted}", Current.Position);

    /// <summary>The refusal of a construct.</summary>
    public static ScriptException NotSupported(string construct, int at) =>
        new(ScriptFault.NotSupported, $"This server does not run {construct}", at);

    /// <summary>Goes a level deeper; <see cref="Leave"/> comes back.</summary>
    public void Enter()
    {
        if (++_level > MostLevels)
        {
            throw new ScriptException(
                ScriptFault.TooLarge,
                $"The script nests deeper than {MostLevels} levels",
                Current.Position
            );
        }
    }

    /// <summary>Comes back from <see cref="Enter"/>.</summary>
    public void Leave() => _level--;
}
