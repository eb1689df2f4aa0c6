using System.Buffers;

namespace Rookery.Queries.FullText;

/// <summary>The positions of one token in one document, ascending, in pooled memory.</summary>
internal sealed class PositionList : IDisposable
{
    private int[] _positions = ArrayPool<int>.Shared.Rent(64);

    internal int Count { get; private set; }

    internal ReadOnlyMemory<int> Positions => _positions.AsMemory(0, Count);

    internal void Add(int position)
    {
        if (Count == _positions.Length)
        {
            var longer = ArrayPool<int>.Shared.Rent(Count * 2);
            _positions.AsSpan().CopyTo(longer);
            ArrayPool<int>.Shared.Return(_positions);
            _positions = longer;
        }

        _positions[Count++] = position;
    }

    internal void Clear() => Count = 0;

    public void Dispose()
    {
        ArrayPool<int>.Shared.Return(_positions);
        _positions = [];
        Count = 0;
    }
}
