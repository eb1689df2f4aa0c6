using Rookery.Documents.Databases;
using Rookery.Platform;

namespace Rookery.Redis.Connections;

/// <summary>The keys that a connection watches, with the versions that they had.</summary>
/// <param name="memory">Memory that the connection holds.</param>
internal sealed class WatchedKeys(HeldMemory memory)
{
    /// <summary>Maximum number of keys that one connection watches.</summary>
    public const int Max = 4096;

    private const int BytesAroundKey = 128;

    private readonly Dictionary<byte[], long> _versions = new(BytesComparer.Instance);
    private uint _database;
    private bool _isMixed; // a key is of an earlier database with the same name
    private long _bytes;

    /// <summary>Number of keys.</summary>
    public int Count => _versions.Count;

    /// <summary>
    /// The keys and their versions, as <see cref="Documents.Redis.RedisReader.ReadVersion"/> returned them.
    /// </summary>
    public IEnumerable<KeyValuePair<byte[], long>> Versions => _versions;

    /// <summary>Adds a key. One that is watched already keeps its first version.</summary>
    /// <returns>False if the node has no memory for it.</returns>
    public bool TryAdd(in DatabaseReader reader, byte[] key, long version)
    {
        if (_versions.ContainsKey(key))
        {
            return true;
        }

        if (!memory.TryAdd(BytesAroundKey + key.Length))
        {
            return false;
        }

        _bytes += BytesAroundKey + key.Length;
        _isMixed |= _versions.Count > 0 && _database != reader.Database.Number;
        _database = reader.Database.Number;
        _versions.Add(key, version);
        return true;
    }

    /// <summary>
    /// Returns whether all keys are of a database. Keys of a deleted database with its name are not: there, a version
    /// may be the same by chance.
    /// </summary>
    public bool AreOf(Database database) => _versions.Count == 0 || (!_isMixed && _database == database.Number);

    /// <summary>Removes all keys.</summary>
    public void Clear()
    {
        _versions.Clear();
        _isMixed = false;
        memory.Remove(_bytes);
        _bytes = 0;
    }
}
