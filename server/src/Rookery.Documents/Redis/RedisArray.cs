using Rookery.Json;
using Rookery.Platform;

namespace Rookery.Documents.Redis;

/// <summary>The elements of a set or list in a document.</summary>
internal sealed class RedisArray
{
    private const int MaxIdle = 4096;

    private readonly List<RedisSlice> _elements = [];

    /// <summary>Number of elements.</summary>
    public int Count => _elements.Count;

    /// <summary>Finds the elements.</summary>
    /// <param name="body">The body of the document, of a set or list; empty for none.</param>
    public void Load(ReadOnlySpan<byte> body)
    {
        _elements.Clear();
        if (body.IsEmpty)
        {
            return;
        }

        for (int at = RedisBody.ArrayAt(body) + 1; body[at] != (byte)']'; )
        {
            at += body[at] == (byte)',' ? 1 : 0;
            int end = StoredJson.SkipValue(body, at);
            _elements.Add(new RedisSlice(at, end - at));
            at = end;
        }
    }

    /// <summary>Returns large memory.</summary>
    public void Trim()
    {
        if (_elements.Capacity > MaxIdle)
        {
            _elements.Clear();
            _elements.TrimExcess();
        }
    }

    /// <summary>Returns the JSON of an element.</summary>
    public ReadOnlySpan<byte> Json(ReadOnlySpan<byte> body, int index) =>
        body.Slice(_elements[index].Start, _elements[index].Length);

    /// <summary>Returns an element.</summary>
    public ReadOnlySpan<byte> Read(ReadOnlySpan<byte> body, int index, PooledBytes scratch) =>
        RedisBody.ReadElement(Json(body, index), scratch);

    /// <summary>Swaps two elements.</summary>
    public void Swap(int left, int right) => (_elements[left], _elements[right]) = (_elements[right], _elements[left]);
}
