using System.Buffers;
using System.Text;
using Rookery.Documents.Apply;
using Rookery.Storage;

namespace Rookery.Crash.Tests;

/// <summary>
/// Returns all rows of an engine as text. Omits stale rows by etag and the chunks of large values, because nodes drop
/// them at different times. The row of a large value contains the whole value.
/// </summary>
internal static class Rows
{
    // Tables from this number on belong to the engine: released values and chunks.
    private const byte FirstTableOfTheEngine = 254;

    public static string Text(StorageEngine storage)
    {
        var text = new StringBuilder();
        var filter = new StaleRowFilter();
        using var snapshot = storage.OpenSnapshot();
        using var rows = snapshot.Seek([], []);
        while (rows.MoveNext())
        {
            if (
                Key.TableOf(rows.Key) >= FirstTableOfTheEngine
                || (
                    filter.Concerns(Key.TableOf(rows.Key))
                    && filter.IsStale(rows.Key, rows.Sequence, rows.IsLarge ? [] : rows.Value, snapshot)
                )
            )
            {
                continue;
            }

            text.Append(Convert.ToHexString(rows.Key)).Append(' ').Append(rows.Sequence).Append(' ');
            var value = new ArrayBufferWriter<byte>();
            rows.CopyTo(value, 0, rows.Length);
            text.Append(Convert.ToHexString(value.WrittenSpan)).Append('\n');
        }

        return text.ToString();
    }
}
