using Rookery.Documents.Databases;
using Rookery.Storage;

namespace Rookery;

/// <summary>Reports the damaged ranges that an export skipped: names each once on stderr, and counts them.</summary>
internal sealed class ExportGaps
{
    private readonly HashSet<(string Database, string File, long Offset)> _known = [];

    /// <summary>The number of skipped ranges so far.</summary>
    public int Count { get; private set; }

    /// <summary>Adds a range that the export of a database skipped.</summary>
    public void Add(Database database, DamageEvent damage)
    {
        if (_known.Add((database.Name, damage.File, damage.Offset)))
        {
            Add($"{database.Name}: not exported: {damage.Sentence}");
        }
    }

    /// <summary>Adds another gap.</summary>
    public void Add(string sentence)
    {
        Count++;
        Console.Error.WriteLine(sentence);
    }
}
