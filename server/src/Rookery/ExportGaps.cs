using Rookery.Documents.Databases;
using Rookery.Storage;

namespace Rookery;

/// <summary>What an export could not read: each range is named once on stderr, and counted.</summary>
internal sealed class ExportGaps
{
    private readonly HashSet<(string Database, string File, long Offset)> _known = [];

    /// <summary>How many there are by now.</summary>
    public int Count { get; private set; }

    /// <summary>A range that the walk over a database went past.</summary>
    public void Add(Database database, DamageEvent damage)
    {
        if (_known.Add((database.Name, damage.File, damage.Offset)))
        {
            Add($"{database.Name}: not exported: {damage.Sentence}");
        }
    }

    /// <summary>Anything else that is missing.</summary>
    public void Add(string sentence)
    {
        Count++;
        Console.Error.WriteLine(sentence);
    }
}
