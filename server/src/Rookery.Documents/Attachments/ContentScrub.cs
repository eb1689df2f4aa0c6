using Rookery.Documents.Databases;
using Rookery.Platform;
using Rookery.Storage;

namespace Rookery.Documents.Attachments;

/// <summary>
/// Looks for contents that are missing or damaged before a client does. The rows say which contents must exist: one
/// walk checks that each has its file with a valid footer, another reads all bytes. At its end, each walk starts again.
/// Not thread-safe; call it on the thread that collects garbage, so that no content is deleted meanwhile.
/// </summary>
/// <param name="contents">The contents.</param>
/// <param name="databases">The databases.</param>
internal sealed class ContentScrub(AttachmentContents contents, DatabaseCatalog databases)
{
    private readonly Walk _presence = new(databases);
    private readonly Walk _bytes = new(databases);
    private ContentPlace? _place; // the content whose bytes are being read; null between two contents
    private int _nextChunk;

    /// <summary>Checks the files and footers of up to <paramref name="maxContents"/> contents.</summary>
    /// <returns>Whether there are more in this walk.</returns>
    public bool CheckPresence(int maxContents)
    {
        for (int i = 0; i < maxContents; i++)
        {
            if (_presence.Next() is not { } place)
            {
                ForgetUnneeded();
                return false;
            }

            Read(place, chunk: null, buffer: default);
        }

        return true;
    }

    /// <summary>Reads one chunk. Damage is reported by the contents.</summary>
    /// <returns>Bytes read; null at the end of the walk.</returns>
    public int? ReadChunk(Span<byte> buffer)
    {
        if (_place is null)
        {
            (_place, _nextChunk) = (_bytes.Next(), 0);
        }

        if (_place is not { } place)
        {
            return null;
        }

        int chunks = Read(place, _nextChunk, buffer);
        _place = ++_nextChunk < chunks ? place : null;
        return ContentFormat.ChunkBytes;
    }

    // Returns the number of chunks; 0 if the content cannot be read.
    private int Read(ContentPlace place, int? chunk, Span<byte> buffer)
    {
        try
        {
            using var file = contents.Open(place.Database, place.Hash);
            if (chunk is { } index && index < file.ChunkCount)
            {
                file.ReadChunk(index, buffer);
            }

            if (chunk >= file.ChunkCount - 1)
            {
                contents.Troubles.Remove(place); // all chunks were read since the walk came to it
            }

            return file.ChunkCount;
        }
        catch (ContentDamagedException damaged)
        {
            // The database may have been deleted since its row was read. Otherwise only this thread deletes files.
            if (IsNeeded(place))
            {
                contents.Troubles.Add(place, damaged.Message);
            }
        }
        catch (DiskException refused) when (refused.IsResourceShortage)
        {
            // The content may be whole; the next walk reads it.
        }
        catch (DiskException refused)
        {
            contents.Troubles.Add(place, $"The content of an attachment cannot be read: {refused.Message}");
        }

        return 0;
    }

    private void ForgetUnneeded()
    {
        foreach (var place in contents.Troubles.Places)
        {
            // A command or an entry that is not applied yet may name the content.
            if (!IsNeeded(place) && !contents.Garbage.IsProtected(place))
            {
                contents.Troubles.Remove(place);
            }
        }
    }

    private bool IsNeeded(ContentPlace place)
    {
        try
        {
            using var snapshot = contents.OpenSnapshot();
            return ContentRows.TryRead(snapshot, place.Database, place.Hash, out _);
        }
        catch (DamagedException)
        {
            return true; // reported as damage of the tables
        }
    }

    /// <summary>Walks over the rows of all databases, a row at a time, without holding a snapshot in between.</summary>
    private sealed class Walk(DatabaseCatalog databases)
    {
        private const int RowsPerRead = 256;

        private readonly Queue<ContentPlace> _read = new();
        private uint _database; // number of the current database; 0 before the first
        private ContentHash? _after;

        /// <summary>Returns the next content; null at the end, after which the walk starts again.</summary>
        public ContentPlace? Next()
        {
            while (_read.Count == 0)
            {
                if (_after is null && !MoveToNextDatabase())
                {
                    _database = 0;
                    return null;
                }

                ReadRows();
            }

            return _read.Dequeue();
        }

        private bool MoveToNextDatabase()
        {
            var next = databases.All.Where(database => database.Number > _database).MinBy(static next => next.Number);
            _database = next?.Number ?? 0;
            return next is not null;
        }

        private void ReadRows()
        {
            var after = _after;
            _after = null;
            if (databases.All.FirstOrDefault(one => one.Number == _database) is not { } database)
            {
                return; // deleted meanwhile
            }

            try
            {
                using var reader = database.OpenReader();
                // Damage of the rows is reported elsewhere; the contents after it are read all the same.
                using var rows = ContentRows.SeekReadable(reader.Snapshot, _database, after);
                while (_read.Count < RowsPerRead && rows.MoveNext())
                {
                    var hash = ContentRows.Decode(rows).Hash;
                    _read.Enqueue(new ContentPlace(_database, hash));
                    _after = _read.Count == RowsPerRead ? hash : null;
                }
            }
            catch (DatabaseGoneException)
            {
                _after = null;
            }
        }
    }
}
