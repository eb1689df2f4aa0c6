using Rookery.Scripting.Syntax;

namespace Rookery.Indexing.Mapping;

/// <summary>The additional sources of an index: JavaScript functions that its maps and its reduce may call.</summary>
internal sealed class AdditionalSources
{
    /// <summary>No sources.</summary>
    public static readonly AdditionalSources None = new([], static _ => []);

    private readonly string _text;
    private readonly IReadOnlyList<FunctionStatement> _functions;

    /// <summary>Compiles sources.</summary>
    /// <param name="texts">Their texts, by name.</param>
    /// <param name="compile">Compiles the functions of a text.</param>
    /// <exception cref="ScriptException">A source is not made of functions, or uses something unsupported. Its position
    /// is an offset in the joined text (see <see cref="Join"/>).</exception>
    public AdditionalSources(
        IEnumerable<KeyValuePair<string, string>> texts,
        Func<string, IReadOnlyList<FunctionStatement>> compile
    )
    {
        Texts = new SortedDictionary<string, string>(
            texts.ToDictionary(StringComparer.Ordinal),
            StringComparer.Ordinal
        );
        _text = Join(Texts);
        _functions = compile(_text);
    }

    /// <summary>The texts by name, in the order of the names.</summary>
    public IReadOnlyDictionary<string, string> Texts { get; }

    /// <summary>Returns all texts as one.</summary>
    public static string Join(IEnumerable<KeyValuePair<string, string>> texts) =>
        string.Join(
            '\n',
            texts.OrderBy(static source => source.Key, StringComparer.Ordinal).Select(static source => source.Value)
        );

    /// <summary>Returns the sources, followed by a text that may call them.</summary>
    public string Before(string text) => _text.Length == 0 ? text : $"{_text}\n{text}";

    /// <summary>
    /// Returns the functions that a text may call, and those that these may call. Others are left out, because a
    /// function that loads documents must not be part of a reduce.
    /// </summary>
    public IReadOnlyList<FunctionStatement> CalledBy(string text)
    {
        bool[] isCalled = new bool[_functions.Count];
        var texts = new Queue<string>([text]);
        while (texts.TryDequeue(out string? caller))
        {
            for (int i = 0; i < _functions.Count; i++)
            {
                var function = _functions[i];
                if (!isCalled[i] && caller.Contains(function.Name, StringComparison.Ordinal))
                {
                    isCalled[i] = true;
                    int end = i + 1 < _functions.Count ? _functions[i + 1].Position : _text.Length;
                    texts.Enqueue(_text[function.Position..end]);
                }
            }
        }

        return [.. _functions.Where((_, number) => isCalled[number])];
    }
}
